"""From a drawing to events with times, by the rules below."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from rung.ladder.article.scene import Drawing, Span, Step, Work

Steps = tuple[Step, Step, Step]

FIRST_STEP = 2
LEAD_NS, TAIL_NS = 10_000, 5_000
"""From a step's start to its region's, and from the region's end to the step's."""

GAP_NS = 5_000
"""From a region's start to its first op: part 1 prints 5.5 and 4.5 us for the steps after the cold one."""

BREAK_NS = 10_000
"""Between two steps, and before the last call that waits for the GPU."""

SIBLING_NS = 500
LATENCY_NS = 2_000
"""From the end of a launch to the start of its work on a free GPU."""

KERNEL_BREAK_NS = 579
"""Between kernels that queue: part 1 prints 26 us of GPU time with six kernels of 23.104 us together."""


@dataclass(frozen=True, slots=True)
class Event:
    """A span with its times in ns. `lane` is cpu, gpu or profiler; an `op` owns calls and their work."""

    name: str
    category: str
    lane: str
    start_ns: int
    dur_ns: int
    published: bool
    args: Mapping[str, Any]
    op: int | None = None
    correlation: int | None = None
    launches: bool = False

    @property
    def end_ns(self) -> int:
        return self.start_ns + self.dur_ns


def steps(spans: tuple[Span, ...]) -> Steps:
    """Three steps just wide enough for their region."""
    width = LEAD_NS + GAP_NS + _row_ns(spans) + TAIL_NS
    return steps_of((width, width, width))


def steps_of(widths: tuple[int, int, int]) -> Steps:
    """Three steps of these widths in a row."""
    first = Step(BREAK_NS, widths[0], GAP_NS)
    second = Step(first.start_ns + first.width_ns + BREAK_NS, widths[1], GAP_NS)
    return first, second, Step(second.start_ns + second.width_ns + BREAK_NS, widths[2], GAP_NS)


def events(drawing: Drawing) -> list[Event]:
    """All events, by start; the enclosing one first."""
    ids = _Ids(count(1), count(1))
    placed: list[Event] = []
    free = drawing.gpu_ready_ns
    for index, step in enumerate(drawing.steps):
        cpu = list(_step(drawing, index, step, ids))
        gpu = list(_device(drawing, index, cpu, free))
        free = gpu[-1].end_ns + KERNEL_BREAK_NS
        placed += cpu + gpu
    placed.append(_synchronize(drawing, max(event.end_ns for event in placed), next(ids.correlation)))
    end = max(event.end_ns for event in placed)
    # Recorded traces begin with it too; times relative to the first event are thus the article's.
    placed.append(Event("PyTorch Profiler (0)", "Trace", "profiler", 0, end, False, {}))
    return sorted(placed, key=lambda event: (event.start_ns, -event.dur_ns))


@dataclass(frozen=True, slots=True)
class _Ids:
    op: Iterator[int]
    correlation: Iterator[int]


def _step(drawing: Drawing, index: int, step: Step, ids: _Ids) -> Iterator[Event]:
    """The CPU's lane. Ops are stretched evenly to fill the step."""
    name, start = f"ProfilerStep#{FIRST_STEP + index}", step.start_ns + LEAD_NS
    width = step.width_ns - LEAD_NS - TAIL_NS
    for outer, at, ns in ((name, step.start_ns, step.width_ns), (drawing.region, start, width)):
        known = outer in drawing.published
        yield Event(outer, "user_annotation", "cpu", at, ns, known, {}, next(ids.op))
    pen = _Pen(ids, width - step.gap_ns, _row_ns(drawing.spans))
    yield from pen.row(drawing.spans, start + step.gap_ns, None)


@dataclass(frozen=True, slots=True)
class _Pen:
    """Draws spans at `have_ns / need_ns` times the width that the rules give them."""

    ids: _Ids
    have_ns: int
    need_ns: int

    def row(self, spans: tuple[Span, ...], at: int, op: int | None) -> Iterator[Event]:
        for span in spans:
            yield from self._span(span, at, op)
            at += self._stretch(_span_ns(span)) + self._stretch(SIBLING_NS)

    def _span(self, span: Span, at: int, op: int | None) -> Iterator[Event]:
        is_call = span.category.startswith("cuda_")
        own = op if is_call else next(self.ids.op)
        correlation = next(self.ids.correlation) if is_call else None
        width = self._stretch(_span_ns(span))
        works = span.work is not None
        yield Event(span.name, span.category, "cpu", at, width, False, span.args, own, correlation, works)
        yield from self.row(span.inside, at + self._stretch(span.enter_ns), own)

    def _stretch(self, ns: int) -> int:
        return ns * self.have_ns // self.need_ns


def _span_ns(span: Span) -> int:
    return span.enter_ns + _row_ns(span.inside) + span.leave_ns


def _row_ns(spans: tuple[Span, ...]) -> int:
    return sum(map(_span_ns, spans)) + SIBLING_NS * max(0, len(spans) - 1)


def _device(drawing: Drawing, index: int, cpu: list[Event], free: int) -> Iterator[Event]:
    """The GPU's lane: work in the order of its launches, one after another, and the region around it."""
    placed: list[Event] = []
    for launch, work in zip((event for event in cpu if event.launches), _works(drawing.spans), strict=True):
        start = max(launch.end_ns + LATENCY_NS, free)
        ns, known = work.ns[index], work.published
        placed.append(
            Event(work.name, work.category, "gpu", start, ns, known, work.args, launch.op, launch.correlation)
        )
        free = start + ns + KERNEL_BREAK_NS
    start, end = placed[0].start_ns, placed[-1].end_ns
    yield Event(drawing.region, "gpu_user_annotation", "gpu", start, end - start, False, {})
    yield from placed


def _works(spans: tuple[Span, ...]) -> Iterator[Work]:
    for span in spans:
        if span.work is not None:
            yield span.work
        yield from _works(span.inside)


def _synchronize(drawing: Drawing, end: int, correlation: int) -> Event:
    name, last = "cudaDeviceSynchronize", drawing.steps[-1]
    start = last.start_ns + last.width_ns + BREAK_NS
    width = drawing.sync_ns or max(end - start, 0) + LATENCY_NS
    return Event(
        name, "cuda_runtime", "cpu", start, width, name in drawing.published, {}, correlation=correlation
    )
