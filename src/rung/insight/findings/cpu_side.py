"""What the CPU does: in ops, between launches, while the GPU idles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rung.insight.findings.calls import TELLING, named
from rung.insight.spread import spread
from rung.trace import Region, Trace
from rung.trace.intervals import union_ns
from rung.trace.tables import Ints


def launch_spacing_ns(region: Region) -> int | None:
    """Median time from one launch's start to the next one's; None for a single launch."""
    launches, rows = region.trace.tables.launches, region.launches.rows
    starts = np.sort(launches.start_ns[rows[launches.timed[rows]]])
    return spread(np.diff(starts).tolist()).median if len(starts) > 1 else None


def in_ops_ns(region: Region) -> int:
    """How long the CPU is inside any op of a region."""
    ops, rows = region.trace.tables.ops, region.ops.rows
    return union_ns(ops.start_ns[rows], ops.start_ns[rows] + ops.dur_ns[rows])


@dataclass(frozen=True, slots=True)
class Doings:
    """What the CPU did, by start: when, and its name. `reached` is the latest end up to each."""

    start: Ints
    end: Ints
    reached: Ints
    name: list[str]

    def most_of(self, start: int, end: int) -> tuple[str, int]:
        """What took most of a stretch of time, and how long of it; `("", 0)` for nothing."""
        first = int(np.searchsorted(self.reached, start, side="right"))
        last = int(np.searchsorted(self.start, end))
        if first >= last:
            return "", 0
        within = np.minimum(self.end[first:last], end) - np.maximum(self.start[first:last], start)
        at = int(within.argmax())
        return (self.name[first + at], int(within[at])) if within[at] > 0 else ("", 0)


@dataclass(frozen=True, slots=True)
class Meanwhile:
    """What can be said of the CPU in a stretch of time: calls that wait, allocate or load; outermost ops."""

    calls: Doings
    ops: Doings

    def __call__(self, start: int, end: int) -> tuple[str, int] | None:
        """What the CPU spent most of it with, and how long: a call, else an op, where that took a quarter of
        it; None where nothing did."""
        for doings in (self.calls, self.ops):
            name, took = doings.most_of(start, end)
            if took >= (end - start) / 4 and name:
                return name, took
        return None


def meanwhile(trace: Trace) -> Meanwhile:
    """Look at all that the CPU did at once."""
    calls, ops = trace.tables.calls, trace.tables.ops
    telling = np.flatnonzero(named(trace, TELLING))
    outer = np.flatnonzero(ops.parent < 0)
    return Meanwhile(
        _doings(calls.start_ns, calls.dur_ns, calls.name, telling),
        _doings(ops.start_ns, ops.dur_ns, ops.name, outer),
    )


def _doings(start: Ints, dur: Ints, names: list[str], rows: Ints) -> Doings:
    end = (start + dur)[rows]
    return Doings(start[rows], end, np.maximum.accumulate(end), [names[row] for row in rows.tolist()])
