"""Tiles found by measuring, kept in a file that a person can read.

`RUNG_CACHE_DIR/glu-tiles.json` (default `~/.cache/rung`), a line a shape:
`"NVIDIA H200 | tma half | rows <= 8192, hidden 3072, in 768": [128, 128, 64, 8, 4, 8]`
which is m, n, k of the tile, warps, stages, group. Deleting the file forgets them.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import torch

from rung.errors import MachineError
from rung.glu import few_rules, plans, rules
from rung.glu.rules import Kind, Tile


def tiles_path() -> Path:
    """The file with the tuned tiles."""
    return Path(os.environ.get("RUNG_CACHE_DIR") or Path.home() / ".cache/rung") / "glu-tiles.json"


def find(
    device: str, kernel: str, kind: Kind, save: bool, rows: int, hidden_features: int, in_features: int
) -> Tile | None:
    """The tuned tile for a shape, or None."""
    tiles = _load(os.environ.get("RUNG_CACHE_DIR"))
    return tiles.get(_key(device, kernel, kind, save, rows, hidden_features, in_features)) if tiles else None


def tune(
    shape: tuple[int, int, int], dtype: torch.dtype = torch.bfloat16, activation: str = "gelu_tanh"
) -> dict[str, float]:
    """Measures every tile for `shape` = (rows, in_features, hidden_features) and keeps the best, on disk.

    Returns microseconds of the gate-up kernel by tile, best first. Rows are kept by power of two, so a tuned
    tile serves up to twice the rows. Raises ValueError for a shape or dtype there is nothing to tune for,
    MachineError without a CUDA device.
    """
    from rung.glu.checks import check_choice
    from rung.glu.devices import KERNEL_DTYPES, chip, kind_of
    from rung.glu.gate_up import Choice, choose, plan
    from rung.glu.operands import arrange

    check_choice(activation)
    rows, in_features, hidden_features = _check_shape(shape)
    if dtype not in KERNEL_DTYPES:
        raise ValueError(f"dtype is {dtype!r}: expected one of {', '.join(map(str, KERNEL_DTYPES))}")
    if not torch.cuda.is_available():
        raise MachineError(
            "tune measures on a CUDA device and there is none: run it where the model will run"
        )
    x = torch.randn(rows, in_features, device="cuda", dtype=dtype)
    weights = torch.randn(2, hidden_features, in_features, device="cuda", dtype=dtype) * in_features**-0.5
    kind = kind_of(dtype)
    kernel = choose(arrange(x, weights[0], weights[1], None, None), False).kernel
    results: dict[Tile, float] = {}
    for tile in rules.candidates(kernel, kind):
        choice = Choice(kernel, tile, "being tuned")
        one = plan(x, weights[0], weights[1], None, None, activation, "single", False, choice)
        results[tile] = _time_us(lambda one=one: one.run(x, weights[0], weights[1], None, None))
    ranking = sorted(results, key=results.__getitem__)
    name = chip(torch.cuda.current_device()).name
    _keep(_key(name, kernel, kind, False, rows, hidden_features, in_features), ranking[0])
    return {_describe(tile): round(results[tile], 2) for tile in ranking}


def _check_shape(shape: Any) -> tuple[int, int, int]:
    numbers = tuple(shape) if isinstance(shape, (tuple, list, torch.Size)) else ()
    if len(numbers) != 3 or not all(isinstance(n, int) and n > 0 for n in numbers):
        raise ValueError(
            f"shape is {shape!r}: expected (rows, in_features, hidden_features), each at least 1"
        )
    if numbers[0] <= few_rules.FEW_ROWS:
        raise ValueError(
            f"shape has {numbers[0]} rows: tiles are chosen from {few_rules.FEW_ROWS + 1} rows on"
        )
    return numbers


def _time_us(call: Any) -> float:
    """Median time of a call on the GPU, caches flushed before each (do_bench)."""
    from triton.testing import do_bench

    return float(do_bench(call, warmup=10, rep=60, return_mode="median")) * 1e3


def _describe(tile: Tile) -> str:
    return f"{tile.m}x{tile.n}x{tile.k}, {tile.warps} warps, {tile.stages} stages, groups of {tile.group}"


def _key(device: str, kernel: str, kind: str, save: bool, rows: int, hidden: int, width: int) -> str:
    bucket = 1 << (rows - 1).bit_length()
    saved = ", saved" if save else ""
    return f"{device} | {kernel} {kind}{saved} | rows <= {bucket}, hidden {hidden}, in {width}"


@cache
def _load(folder: str | None) -> dict[str, Tile]:
    """Once a process and RUNG_CACHE_DIR: a launch must not touch the disk, nor make a path (25 µs).

    What cannot be read counts as nothing tuned.
    """
    try:
        return {key: Tile(*numbers) for key, numbers in json.loads(tiles_path().read_text()).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _keep(key: str, tile: Tile) -> None:
    path = tiles_path()
    tiles = {**_load(os.environ.get("RUNG_CACHE_DIR")), key: tile}
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(list(one[:6]))}" for name, one in sorted(tiles.items())
    )
    partial = path.with_suffix(f".{os.getpid()}.tmp")
    partial.write_text("{\n" + lines + "\n}\n")
    partial.replace(path)
    _load.cache_clear()
    plans.forget()
