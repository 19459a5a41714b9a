"""Which span lies in which, thread by thread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Nesting:
    """`parent[i]` is the row of the innermost span around span i, or -1. `depth` counts the spans around it."""

    parent: Ints
    depth: Ints
    crossings: int

    def nearest(self, wanted: NDArray[np.bool_]) -> Ints:
        """For each span the nearest enclosing span that is wanted, or -1; a span does not enclose itself."""
        found = np.full(len(self.parent), -1, dtype=np.int64)
        for level in range(1, int(self.depth.max(initial=0)) + 1):
            rows = np.flatnonzero(self.depth == level)
            parents = self.parent[rows]
            found[rows] = np.where(wanted[parents], parents, found[parents])
        return found


def nest(start: Ints, end: Ints, thread: Ints) -> Nesting:
    """Nest spans by time on each thread.

    Spans that cross (b starts inside a and ends after it) are counted, and for the nesting alone b is taken to
    end with a: the recorder's clocks differ by a microsecond between annotations and Python frames.
    """
    parent = np.full(len(start), -1, dtype=np.int64)
    depth = np.zeros(len(start), dtype=np.int64)
    crossings = 0
    by_thread = np.argsort(thread, kind="stable")
    cuts = np.flatnonzero(np.diff(thread[by_thread])) + 1
    for rows in np.split(by_thread, cuts):
        order = rows[np.lexsort((rows, -end[rows], start[rows]))]
        local_parent, local_depth, crossed = _nest_thread(start[order], end[order])
        inside = local_parent >= 0
        parent[order[inside]] = order[local_parent[inside]]
        depth[order] = local_depth
        crossings += crossed
    return Nesting(parent, depth, crossings)


def _nest_thread(start: Ints, end: Ints) -> tuple[Ints, Ints, int]:
    """Parents and depths of spans sorted by start, outermost first."""
    end = np.maximum(end, start)
    crossed = np.zeros(len(start), dtype=bool)
    while True:
        depth = _depths(start, end)
        parent = _parents(depth)
        inside = np.flatnonzero(parent >= 0)
        over = inside[end[inside] > end[parent[inside]]]
        if not over.size:
            return parent, depth, int(crossed.sum())
        crossed[over] = True
        end[over] = end[parent[over]]


def _depths(start: Ints, end: Ints) -> Ints:
    """How many earlier spans are still open where each begins.

    Times are doubled so that an empty span can end half a tick after its start: it then lies inside the span
    that begins with it, while spans that merely touch stay side by side.
    """
    begins, ends = 2 * start, 2 * end + (end == start)
    closed = np.searchsorted(np.sort(ends), begins, side="right")
    return np.arange(len(start)) - closed


def _parents(depth: Ints) -> Ints:
    """The last span one level up before each span."""
    parent = np.full(len(depth), -1, dtype=np.int64)
    above = np.flatnonzero(depth == 0)
    for level in range(1, int(depth.max(initial=0)) + 1):
        rows = np.flatnonzero(depth == level)
        parent[rows] = above[np.searchsorted(above, rows) - 1]
        above = rows
    return parent
