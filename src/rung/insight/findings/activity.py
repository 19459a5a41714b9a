"""What the GPU and the CPU did when: gaps between work, calls that wait, allocate or set up."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from rung.insight.spread import spread
from rung.trace import Region, Trace
from rung.trace.intervals import union_ns
from rung.trace.tables import Bools, Ints

WAITS = re.compile(r"\w*Synchronize\w*|synchronize\w*")
"""`cudaDeviceSynchronize`, `cudaStreamSynchronize`, `hipEventSynchronize`, `cuCtxSynchronize`, ..."""

ALLOCATES = re.compile(r"(cuda|hip|cu)(Malloc|Free|HostAlloc|MemAlloc|MemFree|MemCreate|MemMap)\w*")

LOADS = re.compile(
    r"Runtime Triggered Module Loading|Lazy Function Loading|(cu|hip)(Module|Library)Load\w*|hipRegister\w*"
)


@dataclass(frozen=True, slots=True)
class Activity:
    """When the devices of a trace work, whoever's work it is; times in ns.

    `start` are the starts of all timed work, `reached` the latest end up to each, `busy` the time that any
    work ran until then.
    """

    trace: Trace
    start: Ints
    reached: Ints
    busy: Ints

    def busy_until(self, time: int) -> int:
        """How long any device worked before a moment."""
        last = int(np.searchsorted(self.start, time, side="right")) - 1
        return int(self.busy[last]) - max(int(self.reached[last]) - time, 0) if last >= 0 else 0

    def busy_between(self, start: int, end: int) -> int:
        """How long any device worked in a stretch of time."""
        return self.busy_until(end) - self.busy_until(start)

    def idle_before(self, rows: Ints) -> Ints:
        """How long the devices idle before each of some timed work; 0 before the first of the trace."""
        return np.where(rows > 0, np.maximum(self.start[rows] - self.reached[rows - 1], 0), 0)

    def gaps(self, region: Region) -> Ints:
        """The same before each piece of a region's work; 0 before its first, and before what has no time."""
        rows = region.work.rows
        idle, timed = np.zeros(len(rows), dtype=np.int64), rows < len(self.start)
        idle[timed] = self.idle_before(rows[timed])
        idle[:1] = 0
        return idle

    def busy_for_others_ns(self, region: Region) -> int:
        """How long the devices work for other regions while one is open and until its own work is done."""
        table, rows = self.trace.tables.kernels, region.work.rows
        done = int((table.start_ns[rows] + table.dur_ns[rows]).max(initial=0))
        end = max(region.start_ns + region.cpu_ns, done)
        return max(self.busy_between(region.start_ns, end) - region.gpu_busy_ns, 0)


def activity(trace: Trace) -> Activity:
    """Look at all device work of a trace at once. Untimed work is left out: it comes last in the table."""
    table = trace.tables.kernels
    start = table.start_ns[table.timed]
    end = start + table.dur_ns[table.timed]
    reached = np.maximum.accumulate(end)
    before = np.append(start[:1], reached[:-1])
    return Activity(trace, start, reached, np.cumsum(np.maximum(end - np.maximum(start, before), 0)))


def at_edges(trace: Trace) -> Bools:
    """Which of `tables.calls` come before the first launch or after the last one, with no op around them: the
    profiler waits so where its window begins and ends."""
    calls, launches = trace.tables.calls, trace.tables.launches.start_ns
    start = calls.start_ns
    inside = (start > launches.min()) & (start < launches.max()) if len(launches) else start < 0
    outside: Bools = ~inside & (calls.op < 0)
    return outside


def named(trace: Trace, wanted: re.Pattern[str]) -> Bools:
    """Which of `tables.calls` have a name that matches as a whole; each name is looked at once."""
    names = trace.tables.calls.name
    known = {name: wanted.fullmatch(name) is not None for name in set(names)}
    return np.array([known[name] for name in names], dtype=bool)


def calls(region: Region, wanted: re.Pattern[str]) -> Ints:
    """Rows of `tables.calls` inside one instance of a region whose whole name matches."""
    table = region.trace.tables.calls
    rows = region.trace.tables.regions.calls.of(region.row)
    found = [row for row in rows.tolist() if wanted.fullmatch(table.name[row])]
    return np.array(found, dtype=np.int64)


def spent_ns(trace: Trace, rows: Ints) -> int:
    """The time some calls took; what one call spends inside another counts once."""
    table = trace.tables.calls
    return union_ns(table.start_ns[rows], table.start_ns[rows] + table.dur_ns[rows])


def launch_spacing_ns(region: Region) -> int | None:
    """Median time from one launch's start to the next one's; None for a single launch."""
    launches, rows = region.trace.tables.launches, region.launches.rows
    starts = np.sort(launches.start_ns[rows[launches.timed[rows]]])
    return spread(np.diff(starts).tolist()).median if len(starts) > 1 else None


def in_ops_ns(region: Region) -> int:
    """How long the CPU is inside any op of a region."""
    ops, rows = region.trace.tables.ops, region.ops.rows
    return union_ns(ops.start_ns[rows], ops.start_ns[rows] + ops.dur_ns[rows])


def meanwhile(trace: Trace, start: int, end: int) -> tuple[str, int] | None:
    """What the CPU spent most of a stretch of time with, and how long: a call that waits, allocates or loads,
    else the outermost op, where it took a quarter of it; None where nothing did."""
    calls, ops = trace.tables.calls, trace.tables.ops
    near = _overlap(calls.start_ns, calls.dur_ns, start, end)
    tells = [
        (int(near[i]), calls.name[i]) for i in np.flatnonzero(near > 0).tolist() if _tells(calls.name[i])
    ]
    spent = np.where(ops.parent < 0, _overlap(ops.start_ns, ops.dur_ns, start, end), 0)
    found = [(int(spent[i]), ops.name[i]) for i in np.flatnonzero(spent > 0).tolist()]
    for group in (tells, found):
        took, name = max(group, default=(0, ""))
        if took >= (end - start) / 4:
            return name, took
    return None


def _tells(name: str) -> bool:
    return any(pattern.fullmatch(name) for pattern in (WAITS, ALLOCATES, LOADS))


def _overlap(start: Ints, dur: Ints, first: int, last: int) -> Ints:
    both: Ints = np.minimum(start + dur, last) - np.maximum(start, first)
    return both
