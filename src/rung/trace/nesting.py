"""Which span lies in which, thread by thread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Nesting:
    """`parent[i]` is the row of the innermost span around span i, or -1; `depth` counts those around it."""

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


def nest(start: Ints, end: Ints, thread: Ints, frame: Bools | None = None) -> Nesting:
    """Nest spans by time on each thread; of two equal spans the earlier row is the outer one.

    Spans that cross (b starts inside a and ends after it) are counted, and for the nesting alone b is taken
    to end with a: the recorder's clocks differ by a microsecond between annotations and Python frames.
    But an annotation or op that a Python `frame` opens, and that lies mostly behind it, is taken to
    lie beside it: `record_function.__enter__` returns long before its range ends.
    """
    frame = np.zeros(len(start), dtype=bool) if frame is None else frame
    parent = np.full(len(start), -1, dtype=np.int64)
    depth = np.zeros(len(start), dtype=np.int64)
    crossings = 0
    by_thread = np.argsort(thread, kind="stable")
    cuts = np.flatnonzero(np.diff(thread[by_thread])) + 1
    for rows in np.split(by_thread, cuts):
        order = rows[np.lexsort((rows, -end[rows], start[rows]))]
        local_parent, local_depth, crossed = _nest_thread(
            start[order], np.maximum(start, end)[order], frame[order]
        )
        inside = local_parent >= 0
        parent[order[inside]] = order[local_parent[inside]]
        depth[order] = local_depth
        crossings += crossed
    return Nesting(parent, depth, crossings)


def _nest_thread(start: Ints, end: Ints, frame: Bools) -> tuple[Ints, Ints, int]:
    """Parents and depths of spans sorted by start, outermost first, and how many cross.

    Times are doubled so that an empty span can end half a tick after its start: it then lies inside the span
    that begins with it, while spans that merely touch stay side by side.
    """
    depth = _depths(2 * start, 2 * end + (end == start))
    parent = _parents(depth)
    inside = np.flatnonzero(parent >= 0)
    if (end[inside] <= end[parent[inside]]).all():
        return parent, depth, 0
    return _nest_crossing(start.tolist(), end.tolist(), frame.tolist())


def _depths(begins: Ints, ends: Ints) -> Ints:
    """How many earlier spans are still open where each begins; right if none cross."""
    closed = np.searchsorted(np.sort(ends), begins, side="right")
    return np.arange(len(begins)) - closed


def _parents(depth: Ints) -> Ints:
    """The last span one level up before each span."""
    parent = np.full(len(depth), -1, dtype=np.int64)
    above = np.flatnonzero(depth == 0)
    for level in range(1, int(depth.max(initial=0)) + 1):
        rows = np.flatnonzero(depth == level)
        parent[rows] = above[np.searchsorted(above, rows) - 1]
        above = rows
    return parent


def _nest_crossing(start: list[int], end: list[int], frame: list[bool]) -> tuple[Ints, Ints, int]:
    """The same with a stack, span by span: each clamp decides what the next span lies in."""
    parent = np.full(len(start), -1, dtype=np.int64)
    depth = np.zeros(len(start), dtype=np.int64)
    crossings = 0
    around: list[int] = []
    for i, begin in enumerate(start):
        while around and _is_over(start[around[-1]], end[around[-1]], begin):
            around.pop()
        crossings += bool(around) and end[i] > end[around[-1]]
        while around and frame[around[-1]] > frame[i] and end[i] - end[around[-1]] > end[around[-1]] - begin:
            around.pop()
        if around:
            parent[i], depth[i] = around[-1], len(around)
            end[i] = min(end[i], end[around[-1]])
        around.append(i)
    return parent, depth, crossings


def _is_over(start: int, end: int, at: int) -> bool:
    return end < at if start == end else end <= at
