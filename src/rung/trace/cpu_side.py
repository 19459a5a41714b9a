"""The tree of what the CPU did: ops, annotations, Python frames and runtime calls on their threads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rung.trace.columns import Ints, Spans
from rung.trace.nesting import Nesting, nest
from rung.trace.roles import Role

RANK = {Role.FRAME: 0, Role.ANNOTATION: 1, Role.OP: 2, Role.CALL: 3}
"""Which of two spans with the same times is the outer one."""


def presumed_ends(spans: Spans) -> Ints:
    """Ends (absolute ns) for nesting.

    A span whose end was lost lasts until the next of its role on its thread begins or the one around it ends.
    """
    end = spans.end
    endless = np.flatnonzero(spans.times.endless & spans.timed & spans.has(*RANK))
    if not endless.size:
        return end
    parent = nest_cpu_side(spans, end).parent
    following = _next_of_its_role(spans, endless)
    for row, until in zip(endless.tolist(), following.tolist(), strict=True):
        around = int(parent[row])
        limits = [limit for limit in (until, int(end[around]) if around >= 0 else NEVER) if limit != NEVER]
        end[row] = max(min(limits, default=0), int(spans.start[row]))
    return end


NEVER = np.iinfo(np.int64).max


def _next_of_its_role(spans: Spans, rows: Ints) -> Ints:
    """When the next span of the same role begins on the same thread."""
    key = spans.thread * len(Role) + spans.role
    following = np.full(len(rows), NEVER, dtype=np.int64)
    for k in np.unique(key[rows]):
        starts = np.sort(spans.start[(key == k) & spans.timed])
        mine = key[rows] == k
        after = np.searchsorted(starts, spans.start[rows][mine], side="right")
        following[mine] = np.append(starts, NEVER)[after]
    return following


def nest_cpu_side(spans: Spans, end: Ints) -> Nesting:
    """The nesting of the CPU-side spans, over all rows: a row of another role lies in nothing."""
    rows = np.flatnonzero(spans.has(*RANK) & spans.timed)
    rank: NDArray[np.int8] = np.array([RANK.get(role, 0) for role in Role], dtype=np.int8)
    rows = rows[np.argsort(rank[spans.role[rows]], kind="stable")]
    nested = nest(spans.start[rows], end[rows], spans.thread[rows], spans.role[rows] == Role.FRAME)
    parent = np.full(len(end), -1, dtype=np.int64)
    depth = np.zeros(len(end), dtype=np.int64)
    parent[rows] = np.where(nested.parent >= 0, rows[nested.parent], -1) if rows.size else -1
    depth[rows] = nested.depth
    return Nesting(parent, depth, nested.crossings)
