"""`rung climb --sweep` and `--shapes` in a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from rung import units
from rung.ladder.shapes import Shapes, Visit
from rung.ladder.shapes import answers as shape_answers
from rung.ladder.sweep import Point, Sweep
from rung.ladder.values import Rung
from rung.ladder.winners import BY_THE_CLOCK, LEVEL, ON_THE_GPU, Clock, gain
from rung.ladder.winners import answers as sweep_answers
from rung.show.climb import title
from rung.show.diff import point
from rung.show.fitting import UNLIMITED, Column, Columns, LeftOut, Phrases, table
from rung.show.plain import EMULATED, plain

BAR = 32
"""Characters of the slowest variant's bar at a size."""

FEW = 6
"""Characters below which a bar says nothing."""

WHAT = "what was compiled"
WORKS, WAITS = "█", "░"


def sweep_page(swept: Sweep, rung: Rung) -> Iterator[RenderableType]:
    """Who wins where, then every time with its bar, then what limits the first variant at each size."""
    yield from _head(rung, swept.parameters, swept.made, swept.train, "medians of interleaved rounds")
    yield ""
    yield from (plain(sentence, "bold") for sentence in sweep_answers(swept))
    yield from _caution(swept.emulated)
    yield ""
    yield _Times(swept)
    if swept.regimes:
        yield ""
        yield Text(f"What limits {swept.variants[0]}", style="bold cyan")
        yield from (point(f"{swept.parameter} {r.value}: {r.sentence}") for r in swept.regimes)
    yield from _left_out(swept.skipped)


def shapes_page(found: Shapes, rung: Rung) -> Iterator[RenderableType]:
    """What each variant paid for each shape, in the order of the calls."""
    yield from _head(rung, found.parameters, found.made, found.train, "compilers' caches empty")
    yield ""
    yield from (plain(sentence, "bold") for sentence in shape_answers(found))
    yield from _caution(found.emulated)
    yield ""
    rows = [
        ("" if i else variant, *_visit(visit))
        for variant in found.variants
        for i, visit in enumerate(found.of(variant))
    ]
    headings = ("variant", "batch x seq", "first call", "compiling", WHAT, "a later call")
    columns = [
        Column(heading, cells, right=heading not in ("variant", WHAT), style="" if i else "bold magenta")
        for i, (heading, cells) in enumerate(zip(headings, zip(*rows, strict=True), strict=True))
    ]
    left_out = LeftOut()
    yield Columns(columns, [None] * len(rows), ("compiling",), (WHAT, "a later call"), left_out)
    yield left_out
    yield from _left_out(found.skipped)


def sweep_json(swept: Sweep) -> dict[str, Any]:
    """`rung climb --sweep --json`: the sweep, ns throughout, and what it says in sentences."""
    return {**msgspec.to_builtins(swept), "answers": list(sweep_answers(swept))}


def shapes_json(found: Shapes) -> dict[str, Any]:
    """`rung climb --shapes --json`: the visits, ns throughout, and what they say in sentences."""
    return {**msgspec.to_builtins(found), "answers": list(shape_answers(found))}


def _head(
    rung: Rung, parameters: Mapping[str, Any], made: Mapping[str, Any], train: bool, how: str
) -> Iterator[RenderableType]:
    yield title(rung)
    yield ""
    sizes = [f"{k.replace('_', ' ')} {v}" for k, v in parameters.items() if k != "dtype"]
    dtype = str(parameters.get("dtype", "")).replace("bfloat16", "bf16")
    words = [
        ", ".join([*sizes, dtype]),
        "a step is forward and backward" if train else "",
        f"timed on {made.get('device_name')}, torch {made.get('torch')}, without a profiler",
        how,
    ]
    yield Phrases(*(plain(word, "dim") for word in words))


def _caution(emulated: Sequence[str]) -> Iterator[RenderableType]:
    if emulated:
        yield plain(f"{units.listing(emulated)}: {EMULATED}", "yellow")


def _left_out(skipped: Mapping[str, str]) -> Iterator[RenderableType]:
    for variant, reason in skipped.items():
        yield ""
        yield plain(f"{variant} left out: {reason}", "dim")


@dataclass(frozen=True, slots=True)
class _Times:
    """Every time, and as a bar how long the GPU works and how long it waits; on a CPU, the wall time. Where
    the longest bar does not fit all are drawn shorter, and none where there is next to no room."""

    swept: Sweep

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wide = options.update(width=UNLIMITED)
        room = options.max_width - Measurement.get(console, wide, self._table(bar=1)).maximum + 1
        yield self._table(bar := min(BAR, room) if room >= FEW else 0)
        if self._on_gpu and bar:
            scale = f"each {self.swept.parameter} to its own scale"
            yield plain(f"{WORKS} GPU works, {WAITS} waits for the CPU; {scale}", "dim")
        if self._is_level:
            yield plain(f"(in brackets: {LEVEL} of the rounds)", "dim")

    @property
    def _on_gpu(self) -> bool:
        return any(one.gpu_ns is not None for one in self.swept.points)

    def _table(self, bar: int) -> Table:
        headings = ["wall", "", *(["GPU", ""] if self._on_gpu else []), "CPU", *([""] if bar else [])]
        numbers = (0, *range(2, len(headings) + (1 if bar else 2)))
        made = table(self.swept.parameter, "variant", *headings, right=numbers)
        for value in self.swept.values:
            points = self.swept.at(value)
            slowest = max(max(one.wall_ns, one.gpu_ns or 0) for one in points)
            for one in points:
                drawn = [_bar(one, slowest, bar)] if bar else []
                made.add_row(*map(plain, self._told(one, points[0])), *drawn)
            if value != self.swept.values[-1]:
                made.add_row()
        return made

    @property
    def _is_level(self) -> bool:
        """Whether a ratio is in brackets."""
        return any(
            found.level
            for first, *others in map(self.swept.at, self.swept.values)
            for one in others
            for clock in (BY_THE_CLOCK, ON_THE_GPU)
            if (found := gain(first, one, clock))
        )

    def _told(self, one: Point, first: Point) -> list[str]:
        gpu = [_time(one.gpu_ns), self._gain(first, one, ON_THE_GPU)] if self._on_gpu else []
        head = str(one.value) if one is first else ""
        return [
            head,
            one.variant,
            _time(one.wall_ns),
            self._gain(first, one, BY_THE_CLOCK),
            *gpu,
            _time(one.cpu_ns),
        ]

    def _gain(self, first: Point, one: Point, clock: Clock) -> str:
        """`1.33x`, how many times as fast, `(1.02x)` where the rounds do not tell; nothing for the first."""
        found = gain(first, one, clock)
        if found is None:
            return ""
        told = f"{found.times:.2f}x"
        return f"({told})" if found.level else f"{told} " if self._is_level else told


def _time(ns: int | None) -> str:
    return "" if ns is None else units.duration(ns)


def _bar(one: Point, slowest: int, longest: int) -> Text:
    whole = max(one.wall_ns, one.gpu_ns or 0)
    length = max(1, round(longest * whole / slowest))
    works = length if one.gpu_ns is None else min(length, max(1, round(longest * one.gpu_ns / slowest)))
    return Text.assemble((WORKS * works, "cyan"), (WAITS * (length - works), "dim"))


def _visit(visit: Visit) -> list[str]:
    what = []
    if visit.graphs:
        again = " again" if visit.recompiles == visit.graphs else f", {visit.recompiles} again"
        what.append(f"{units.count(visit.graphs, 'graph')}{again if visit.recompiles else ''}")
        what += [units.count(visit.breaks, "graph break")] if visit.breaks else []
    compiling = units.duration(visit.compile_ns) if visit.compile_ns else ""
    batch, seq = visit.shape
    shown = (f"{batch} x {seq}", units.duration(visit.first_ns), compiling, ", ".join(what))
    return [*shown, units.duration(visit.steady_ns)]
