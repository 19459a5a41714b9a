"""The table of calls that put work on a device."""

from __future__ import annotations

import numpy as np

from rung.trace.columns import Spans
from rung.trace.linking import Links
from rung.trace.roles import Role
from rung.trace.tables import Bools, Ints, LaunchTable, index_of


def launch_table(spans: Spans, links: Links, op_around: Ints, op_span: Ints, origin: int) -> LaunchTable:
    """`op_around` is the innermost op around each span, `op_span` the rows of the ops, by their table."""
    rows = links.launches
    return LaunchTable(
        span=rows,
        name=spans.names(rows),
        start_ns=np.where(spans.timed[rows], spans.start[rows] - origin, 0),
        dur_ns=spans.times.dur[rows],
        timed=spans.timed[rows],
        op=index_of(op_span, len(spans))[op_around[rows]],
        graph=links.graph,
        occupancy_query=_occupancy_queries(spans, op_around, links),
    )


def _occupancy_queries(spans: Spans, op_around: Ints, links: Links) -> Bools:
    """Which kernel launches follow an occupancy query of the same op, with no other kernel launch between."""
    asked = np.zeros(len(links.launches), dtype=bool)
    calls = spans.rows(Role.CALL)
    queries = calls[spans.named(lambda name: "Occupancy" in name, calls)]
    if not queries.size:
        return asked
    with_kernel = links.launch[spans.role[links.device_rows] == Role.KERNEL]
    launches = np.flatnonzero(np.isin(links.launches, with_kernel))
    rows = np.concatenate([queries, links.launches[launches]])
    place = np.concatenate([np.full(len(queries), -1), launches])
    order = np.lexsort((spans.start[rows], spans.thread[rows]))
    rows, place = rows[order], place[order]
    follows = (place[1:] >= 0) & (place[:-1] < 0) & (spans.thread[rows[1:]] == spans.thread[rows[:-1]])
    query, launch = rows[:-1][follows], rows[1:][follows]
    asked[place[1:][follows]] = op_around[query] == op_around[launch]
    return asked
