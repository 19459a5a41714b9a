"""A long wait for little work."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rung import units
from rung.insight.findings.calls import WAITS, at_edges, named
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.trace import Trace
from rung.trace.tables import Bools

LONG_NS, FIXED_NS = 100_000, 20_000
"""A wait is long from the first on; from the second on (it takes 11 to 53 us for nothing on an H200) where it
is a tenth of a step, and looks like a part of it."""

LITTLE = 0.5


def find(case: Case) -> Iterator[Sighting]:
    """The longest such call outside the steps, or where the profiler's window begins or ends."""
    trace, calls = case.trace, case.trace.tables.calls
    step = case.forwards[0].wall_ns.median if case.forwards else LONG_NS
    long = calls.dur_ns >= min(LONG_NS, max(FIXED_NS, step // 10))
    waits = np.flatnonzero(named(trace, WAITS) & long & (at_edges(trace) | ~_inside(trace)))
    found = [(int(calls.dur_ns[row]), row) for row in waits.tolist()]
    little = [(dur, row, busy) for dur, row in found if (busy := _busy(case, row)) < LITTLE * dur]
    if little and not trace.stand_in:
        yield _sighting(trace, *max(little), len(little))


def _inside(trace: Trace) -> Bools:
    """Which calls lie in a region."""
    inside = np.zeros(len(trace.tables.calls.name), dtype=bool)
    inside[trace.tables.regions.calls.items] = True
    return inside


def _busy(case: Case, row: int) -> int:
    calls = case.trace.tables.calls
    start = int(calls.start_ns[row])
    return case.activity.busy_between(start, start + int(calls.dur_ns[row]))


def _sighting(trace: Trace, dur: int, row: int, busy: int, times: int) -> Sighting:
    name, start = trace.tables.calls.name[row], int(trace.tables.calls.start_ns[row])
    last = start >= int(trace.tables.launches.start_ns.max(initial=0))
    whose = "the profiler's own, at the end of its window" if last else "outside all regions"
    return Sighting(
        title=f"{name} takes {units.duration(dur)} while the GPU works {units.duration(busy)} of it: {whose}",
        advice="No cost of the model: leave it out of what you count.",
        evidence={
            "call": name,
            "start_ns": start,
            "dur_ns": dur,
            "gpu_busy_ns": busy,
            "at_end": last,
            "such": times,
        },
    )


RULE = Rule(
    id="sync-covers-little",
    topic="recording",
    shows="A long synchronize over little GPU work, outside the steps.",
    means="Mostly waiting: the profiler's own flush where its window ends.",
    do="Leave it out; it is no cost of the model.",
    find=find,
)
