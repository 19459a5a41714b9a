"""When the devices of a trace work, and when they idle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rung.trace import Region, Trace
from rung.trace.tables import Ints


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
