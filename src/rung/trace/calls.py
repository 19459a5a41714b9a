"""The table of calls that put no work on a device."""

from __future__ import annotations

import numpy as np

from rung.trace.columns import Spans
from rung.trace.linking import Links
from rung.trace.roles import Role
from rung.trace.tables import CallTable, Ints, index_of


def call_rows(spans: Spans, links: Links) -> Ints:
    """The spans of such calls, and of overhead, by start."""
    rows = np.flatnonzero(spans.has(Role.CALL, Role.OVERHEAD) & spans.timed)
    rows = rows[~np.isin(rows, links.launches)]
    return rows[np.argsort(spans.start[rows], kind="stable")]


def call_table(spans: Spans, rows: Ints, op_around: Ints, op_span: Ints, origin: int) -> CallTable:
    """`rows` are those of `call_rows`; the other rows are as in `launch_table`."""
    return CallTable(
        name=spans.names(rows),
        start_ns=spans.start[rows] - origin,
        dur_ns=spans.times.dur[rows],
        op=index_of(op_span, len(spans))[op_around[rows]],
        overhead=spans.role[rows] == Role.OVERHEAD,
    )
