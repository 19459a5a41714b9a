"""Ways of looking at a trace that several rules share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rung import names
from rung.insight.forward import Forward, WorkRow
from rung.insight.spread import Spread, spread
from rung.trace import Region, Trace
from rung.trace.intervals import union_ns
from rung.trace.tables import Bools, Ints
from rung.trace.views.kernel import NAME_CATEGORY


def grouped_by_op(forward: Forward, *wanted: str) -> list[list[WorkRow]]:
    """The work that each op of these names put on the device, an op a group; of nested ones the innermost."""
    tables = forward.example.trace.tables
    groups: dict[int, list[WorkRow]] = {}
    for row, work in zip(forward.rows, forward.example.work.rows.tolist(), strict=True):
        op = int(tables.kernels.op[work])
        for name in reversed(row.path):
            if name in wanted:
                groups.setdefault(op, []).append(row)
                break
            op = int(tables.ops.parent[op])
    return list(groups.values())


def spent_ns(rows: Sequence[WorkRow]) -> int:
    """Median times, added up."""
    return sum(row.dur_ns.median for row in rows)


def busy_ns(trace: Trace, rows: Ints) -> int:
    """How long any of some device work runs."""
    table = trace.tables.kernels
    return union_ns(table.start_ns[rows], table.start_ns[rows] + table.dur_ns[rows])


def alone(regions: Sequence[Region], wanted: Bools, cover: Bools) -> tuple[Spread, Spread]:
    """How long work of one sort runs in an instance of a region, and how long of that no `cover` runs.

    Both are masks on `tables.kernels`; what covers is on the same device and may lie outside the region.
    """
    times = [_alone(region, wanted, np.flatnonzero(cover)) for region in regions]
    return spread(total for total, _ in times), spread(exposed for _, exposed in times)


def _alone(region: Region, wanted: Bools, cover: Ints) -> tuple[int, int]:
    trace, rows = region.trace, region.work.rows
    rows = rows[wanted[rows]]
    if not len(rows):
        return 0, 0
    table = trace.tables.kernels
    end = table.start_ns + table.dur_ns
    near = cover[(table.start_ns[cover] < end[rows].max()) & (end[cover] > table.start_ns[rows].min())]
    here = table.device[int(rows[0])]
    near = np.array([row for row in near.tolist() if table.device[row] == here], dtype=np.int64)
    return busy_ns(trace, rows), busy_ns(trace, np.concatenate([rows, near])) - busy_ns(trace, near)


def of_category(trace: Trace, category: str) -> Bools:
    """Which timed rows of `tables.kernels` are kernels, copies or memsets."""
    table = trace.tables.kernels
    right: Bools = np.array([one == category for one in table.category], dtype=bool)
    return right & table.timed


def of_name(trace: Trace, category: str, wanted: Callable[[names.Decoded], bool]) -> Bools:
    """Which of those have a name that says what is wanted; each name is decoded once."""
    table = trace.tables.kernels
    told = {name: wanted(names.decode(name, NAME_CATEGORY[category])) for name in set(table.name)}
    right: Bools = np.array([told[name] for name in table.name], dtype=bool)
    return right & of_category(trace, category)


def are_collectives(trace: Trace) -> Bools:
    """Which timed rows of `tables.kernels` are collectives of NCCL or its like."""
    return of_name(trace, "kernel", lambda decoded: decoded.kind == "collective")
