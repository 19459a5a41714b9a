"""Sweeps and visits to shapes that come with the package, as the JSON that `rung climb --json` prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from rung.errors import UsageError
from rung.ladder.climb import TRAIN
from rung.ladder.shapes import Shape, Shapes
from rung.ladder.shipped import RECORDINGS, collections
from rung.ladder.sweep import Sweep
from rung.ladder.values import Rung

SWEEP, SHAPES = "sweep.json", "shapes.json"
Kind = TypeVar("Kind", Sweep, Shapes)


def recorded_sweep(rung: Rung, collection: str, parameter: str, values: Sequence[int], train: bool) -> Sweep:
    """A collection's sweep of a rung, at these sizes.

    Raises UsageError where there is none over this parameter, or not with one of the sizes.
    """
    found = _load(rung, collection, SWEEP, train, Sweep)
    if found.parameter != parameter or not set(values) <= set(found.values):
        there = f"{found.parameter}={','.join(map(str, found.values))}"
        raise UsageError(f"{rung.name} was swept over {there}; for others leave --recorded out.")
    return found.only(values, found.variants)


def recorded_shapes(rung: Rung, collection: str, shapes: Sequence[Shape], train: bool) -> Shapes:
    """A collection's visits of a rung to these shapes, in this order: the cost of one depends on the others.

    Raises UsageError where there are none.
    """
    found = _load(rung, collection, SHAPES, train, Shapes)
    if tuple(shapes) != found.shapes:
        there = ",".join(f"{batch}x{seq}" for batch, seq in found.shapes)
        raise UsageError(
            f"{rung.name} met the shapes {there}, in this order; for others leave --recorded out."
        )
    return found


def _load(rung: Rung, collection: str, name: str, train: bool, kind: type[Kind]) -> Kind:
    if collection not in collections():
        raise UsageError(f"there are no recordings {collection!r}: give {', '.join(collections())}.")
    home = RECORDINGS / collection
    scene = rung.name + (TRAIN if train else "")
    path = home / scene / name
    if not path.is_file():
        there = sorted(str(p.parent.relative_to(home)) for p in Path(home).glob(f"*/{name}"))
        has = f"it has {', '.join(there)}" if there else "it has none at all"
        raise UsageError(f"there is no {path.stem} of {scene} in {collection}; {has}.")
    return msgspec.json.decode(path.read_bytes(), type=kind)
