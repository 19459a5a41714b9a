"""What the profiler does to what it looks at."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rung import units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.findings.rules.cold_start import COLD, set_up
from rung.insight.forward import Forward
from rung.insight.spread import spread
from rung.trace import Region, Trace

WIDER = 1.3
"""How many times as wide as any later call the first one has to be; it was 1.4 to 2.9 in most warm recordings
of small work on an H200."""

BUFFER = "Activity Buffer Request"


def find(case: Case) -> Iterator[Sighting]:
    yield from _buffers(case.trace)
    for forward in case.forwards:
        first, *rest = case.alike(forward)
        if len(rest) > 1 and first.row == case.instances(forward)[0].row:
            widest = max(one.cpu_ns for one in rest)
            if widest and WIDER <= first.cpu_ns / widest < COLD and not any(set_up(first).values()):
                yield _wide_first(forward, first, [one.cpu_ns for one in rest])


def _wide_first(forward: Forward, first: Region, later: list[int]) -> Sighting:
    usual = spread(later).median
    return Sighting(
        title=f"the first recorded {forward.region} is {first.cpu_ns / usual:.1f}x as wide on the CPU as a "
        f"later one, {units.duration(first.cpu_ns)} against {units.duration(usual)}; nothing is set up in it",
        advice="The profiler takes its time at first: read medians, and record more steps.",
        evidence={"first_ns": first.cpu_ns, "later_ns": later[:8]},
        instance=first,
    )


def _buffers(trace: Trace) -> Iterator[Sighting]:
    calls = trace.tables.calls
    rows = np.array([row for row in np.flatnonzero(calls.overhead).tolist() if calls.name[row] == BUFFER])
    if len(rows):
        spent = int(calls.dur_ns[rows].sum())
        times = f" {len(rows)} times" if len(rows) > 1 else ""
        yield Sighting(
            title=f"the profiler asks for a buffer{times}, {units.duration(spent)}: no cost of the program",
            advice="Leave out the step it lies in, or record more steps.",
            evidence={
                "requests": len(rows),
                "spent_ns": spent,
                "start_ns": calls.start_ns[rows].tolist()[:8],
            },
        )


RULE = Rule(
    id="profiler-artifact",
    topic="recording",
    shows="`Activity Buffer Request`, or a first step wider than the rest though nothing is set up in it.",
    means="The profiler, not the program.",
    do="Read medians, and record more steps.",
    find=find,
)
