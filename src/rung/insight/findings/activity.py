"""What the GPU and the CPU did when: gaps between work, calls that wait, allocate or set up."""

from __future__ import annotations

import re

import numpy as np

from rung.insight.forward import Forward
from rung.trace import Region, Trace
from rung.trace.intervals import union_ns
from rung.trace.tables import Ints

WAITS = re.compile(r"\w*Synchronize\w*|synchronize\w*")
"""`cudaDeviceSynchronize`, `cudaStreamSynchronize`, `hipEventSynchronize`, `cuCtxSynchronize`, ..."""

ALLOCATES = re.compile(r"(cuda|hip|cu)(Malloc|Free|HostAlloc|MemAlloc|MemFree|MemCreate|MemMap)\w*")

LOADS = re.compile(
    r"Runtime Triggered Module Loading|Lazy Function Loading|(cu|hip)(Module|Library)Load\w*|hipRegister\w*"
)


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


def busy_between(trace: Trace, start: int, end: int) -> int:
    """How long any device worked in a stretch of time."""
    table = trace.tables.kernels
    first = np.maximum(table.start_ns[table.timed], start)
    last = np.minimum((table.start_ns + table.dur_ns)[table.timed], end)
    there = last > first
    return union_ns(first[there], last[there])


def alike(forward: Forward, instances: list[Region]) -> list[Region]:
    """The instances that ran what the forward's rows list."""
    name = forward.example.trace.tables.kernels.name
    wanted = [name[row] for row in forward.example.work.rows.tolist()]
    return [one for one in instances if [name[row] for row in one.work.rows.tolist()] == wanted]


def gaps(region: Region) -> Ints:
    """How long the device idles before each piece of a region's work, whoever's work it could do; 0 before
    the first of the region, and where it does not idle."""
    table, rows = region.trace.tables.kernels, region.work.rows
    idle = np.where(table.timed[rows], _idle_before(region.trace)[rows], 0)
    idle[:1] = 0
    return idle


def _idle_before(trace: Trace) -> Ints:
    """The same for all work of the trace."""
    table = trace.tables.kernels
    end = np.maximum.accumulate(table.start_ns + table.dur_ns)
    idle = np.zeros(len(end), dtype=np.int64)
    idle[1:] = np.maximum(table.start_ns[1:] - end[:-1], 0)
    return idle


def others_busy_ns(region: Region) -> int:
    """How long the device works for other regions while this one is open and until its own work is done."""
    table, rows = region.trace.tables.kernels, region.work.rows
    end = max(
        region.start_ns + region.cpu_ns, int((table.start_ns[rows] + table.dur_ns[rows]).max(initial=0))
    )
    return max(busy_between(region.trace, region.start_ns, end) - region.gpu_busy_ns, 0)


def in_ops_ns(region: Region) -> int:
    """How long the CPU is inside any op of a region."""
    ops, rows = region.trace.tables.ops, region.ops.rows
    return union_ns(ops.start_ns[rows], ops.start_ns[rows] + ops.dur_ns[rows])


def at_edge(trace: Trace, call: int) -> bool:
    """Whether a call (a row of `tables.calls`) comes before the first launch or after the last one, with no
    op around it: the profiler waits so where its window begins and ends."""
    calls, launches = trace.tables.calls, trace.tables.launches.start_ns
    start = calls.start_ns[call]
    return bool(
        calls.op[call] < 0 and not (launches.min(initial=start + 1) < start < launches.max(initial=-1))
    )


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
