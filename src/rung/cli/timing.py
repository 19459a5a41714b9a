"""`rung climb RUNG --sweep` and `--shapes`: what calls take without a profiler, measured or as shipped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rung.ladder import Rung
    from rung.ladder.shapes import Shapes
    from rung.ladder.sweep import Sweep


@dataclass(frozen=True)
class Asked:
    """What both questions have in common."""

    rung: Rung
    sizes: dict[str, Any]
    variants: list[str] | None
    train: bool
    device: str | None
    dtype: str
    recorded: str | None
    json: bool

    def how(self) -> dict[str, Any]:
        """Arguments of a measurement."""
        return {
            "parameters": self.sizes,
            "variants": self.variants,
            "train": self.train,
            "device": self.device,
            "dtype": self.dtype,
        }


def sweep(asked: Asked, text: str, svg: Path | None) -> None:
    """Times the rung at each size of `text`, or finds the times shipped; draws them into `svg`.

    Raises:
        UsageError: it is not understood, or the rung or the recordings have nothing of the kind.
        MachineError: torch is missing, or the device is not there.
    """
    from rung.cli.output import write_file
    from rung.show.drawing.picture import stacked
    from rung.show.drawing.sweep import sweep as drawn
    from rung.show.timing import sweep_json, sweep_page

    found = _swept(asked, text)
    if svg is not None:
        write_file(svg, stacked([drawn(found)]))
    _show(asked.json, sweep_json(found), sweep_page(found, asked.rung))


def shapes(asked: Asked, text: str) -> None:
    """Calls the rung with each shape of `text`, or finds what that cost. Raises what `sweep` raises."""
    from rung.show.timing import shapes_json, shapes_page

    found = _visited(asked, text)
    _show(asked.json, shapes_json(found), shapes_page(found, asked.rung))


def _swept(asked: Asked, text: str) -> Sweep:
    from rung.cli.output import working
    from rung.ladder.climb import check_variants
    from rung.ladder.sweep import parse, sweep
    from rung.ladder.timings import recorded_sweep

    parameter, values = parse(text)
    chosen = check_variants(asked.rung, asked.variants)
    if asked.recorded is None:
        with working(f"timing {asked.rung.name}"):
            return sweep(asked.rung, parameter, values, **asked.how())
    _refuse_sizes(asked)
    found = recorded_sweep(asked.rung, asked.recorded, parameter, values, asked.train)
    return found.only(values, [name for name in found.variants if name in chosen])


def _visited(asked: Asked, text: str) -> Shapes:
    from rung.cli.output import working
    from rung.ladder.shapes import check_visitors, parse, visit_shapes
    from rung.ladder.timings import recorded_shapes

    wanted = parse(text)
    chosen = check_visitors(asked.rung, asked.variants)
    if asked.recorded is None:
        with working(f"compiling {asked.rung.name}"):
            return visit_shapes(asked.rung, wanted, **asked.how())
    _refuse_sizes(asked)
    return recorded_shapes(asked.rung, asked.recorded, wanted, asked.train).only(chosen)


def _refuse_sizes(asked: Asked) -> None:
    from rung.errors import UsageError

    if asked.sizes:
        raise UsageError(
            f"{asked.rung.name} was timed with its usual sizes; for others leave --recorded out."
        )


def _show(json: bool, as_json: dict[str, Any], page: Iterable[Any]) -> None:
    from rung.cli.output import print_json, stdout

    if json:
        print_json(as_json)
        return
    console = stdout()
    for part in page:
        console.print(part, crop=False)
