"""`rung diff` in a terminal: two forwards beside each other, then what changed and what stayed the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rung import units
from rung.insight.compare import Comparison
from rung.insight.forward import Forward, is_drawn, is_emulated
from rung.show.fitting import Phrases, table
from rung.show.fitting import point as point
from rung.show.plain import EMULATED, plain
from rung.show.read import DRAWN
from rung.trace import Trace


def headings(diff: Comparison) -> list[Phrases]:
    """What A and B are, a line each."""
    return [_heading(label, f) for label, f in (("A", diff.a), ("B", diff.b))]


def _heading(label: str, forward: Forward) -> Phrases:
    trace = forward.example.trace
    times = f", median of {forward.instances}" if forward.instances > 1 else ""
    return Phrases(
        plain(label, "bold"),
        plain(trace.path),
        plain(f"{forward.region}{times}"),
        plain(_caution(trace), "yellow"),
    )


def _caution(trace: Trace) -> str:
    """What a reader of its numbers must know."""
    if is_drawn(trace):
        return DRAWN
    if is_emulated(trace):
        return EMULATED
    if trace.stand_in:
        return "no GPU work: ops stand in for kernels"
    return "damaged or incomplete" if trace.incomplete else ""


def side_by_side(labels: Sequence[str], forwards: Sequence[Forward]) -> Table:
    """Counts and times of several forwards, each time with its change against the first."""
    made = table("", *labels, right=tuple(range(1, len(labels) + 1)))
    for label, pick in _COUNTS:
        values = [pick(forward) for forward in forwards]
        if any(values):
            made.add_row(label, *map(str, values))
    on_gpu = any(forward.gpu_busy_ns.median for forward in forwards)
    for label, pick in _TIMES if on_gpu else _TIMES[1:2]:
        values = [pick(forward) for forward in forwards]
        if any(values):
            made.add_row(label, *(_against(values[0], value, i) for i, value in enumerate(values)))
    return made


_COUNTS: tuple[tuple[str, Callable[[Forward], int]], ...] = (
    ("kernels", lambda f: f.kernels),
    ("copies", lambda f: f.copies),
    ("memsets", lambda f: f.memsets),
    ("launches", lambda f: f.launches),
)
_TIMES: tuple[tuple[str, Callable[[Forward], int]], ...] = (
    ("GPU busy", lambda f: f.gpu_busy_ns.median),
    ("CPU per forward", lambda f: f.cpu_ns.median),
    ("wall per forward", lambda f: f.wall_ns.median),
)


def _against(first: int, value: int, position: int) -> str:
    change = units.change(first, value) if position else ""
    return f"{units.duration(value)} ({change})" if change else units.duration(value)


def verdict(changed: Sequence[str], unchanged: Sequence[str]) -> RenderableType:
    """The two lists every rung ends with, one under the other: few terminals are wide enough for both."""
    return Group(
        Text("What changed", style="bold"),
        *_points(changed, "nothing"),
        "",
        Text("What stayed the same", style="bold"),
        *_points(unchanged, "nothing"),
    )


def _points(sentences: Sequence[str], otherwise: str) -> list[Table]:
    return [point(sentence) for sentence in sentences or (otherwise,)]
