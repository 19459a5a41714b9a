"""Calls that put no work on a device, and say by their name what the CPU is held up by."""

from __future__ import annotations

import re

import numpy as np

from rung.trace import Region, Trace
from rung.trace.intervals import union_ns
from rung.trace.tables import Bools, Ints

WAITS = re.compile(r"\w*Synchronize\w*|synchronize\w*")
"""`cudaDeviceSynchronize`, `cudaStreamSynchronize`, `hipEventSynchronize`, `cuCtxSynchronize`, ..."""

ALLOCATES = re.compile(r"(cuda|hip|cu)(Malloc|Free|HostAlloc|MemAlloc|MemFree|MemCreate|MemMap)\w*")

LOADS = re.compile(
    r"Runtime Triggered Module Loading|Lazy Function Loading|(cu|hip)(Module|Library)Load\w*|hipRegister\w*"
)

TELLING = re.compile("|".join(pattern.pattern for pattern in (WAITS, ALLOCATES, LOADS)))
"""All of these."""


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
