"""`rung diff` in a terminal: two forwards beside each other, then what changed and what stayed the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from rung import units
from rung.insight.compare import Comparison
from rung.insight.forward import Forward, is_drawn, is_emulated
from rung.show.fitting import UNLIMITED, Phrases, table
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


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Counts and times of several forwards, each time with its change against the first. Where not all fit
    beside each other the others follow below."""

    labels: Sequence[str]
    forwards: Sequence[Forward]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wide = options.update(width=UNLIMITED)
        most = len(self.forwards)
        while most > 1 and Measurement.get(console, wide, self._table(0, most)).maximum > options.max_width:
            most -= 1
        for start in range(0, len(self.forwards), most):
            yield from [""] if start else []
            yield self._table(start, start + most)

    def _table(self, start: int, end: int) -> Table:
        shown = range(start, min(end, len(self.forwards)))
        made = table("", *(self.labels[i] for i in shown), right=range(1, len(shown) + 1))
        for label, *cells in self._rows():
            made.add_row(label, *(cells[i] for i in shown))
        return made

    def _rows(self) -> Iterator[list[str]]:
        on_gpu = any(forward.gpu_busy_ns.median for forward in self.forwards)
        for label, pick in _COUNTS:
            values = [pick(forward) for forward in self.forwards]
            if any(values):
                yield [label, *map(str, values)]
        for label, pick in _TIMES if on_gpu else _TIMES[1:2]:
            values = [pick(forward) for forward in self.forwards]
            if any(values):
                yield [label, *(_against(values[0], value, i) for i, value in enumerate(values))]


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
