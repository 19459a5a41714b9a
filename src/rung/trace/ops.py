"""The table of CPU operators."""

from __future__ import annotations

import numpy as np

from rung.trace.columns import Columns, Spans
from rung.trace.flows import Moment
from rung.trace.nesting import Nesting
from rung.trace.roles import Role
from rung.trace.tables import Ints, OpTable, index_of


def op_table(columns: Columns, nesting: Nesting, op_around: Ints, origin: int) -> OpTable:
    """`op_around` is the innermost op around each span."""
    spans = columns.spans
    rows = spans.rows(Role.OP)
    rows = rows[np.lexsort((nesting.depth[rows], spans.start[rows]))]
    index = index_of(rows, len(spans))
    return OpTable(
        span=rows,
        name=spans.names(rows),
        start_ns=np.where(spans.timed[rows], spans.start[rows] - origin, 0),
        dur_ns=spans.times.dur[rows],
        thread=[spans.threads[t] for t in spans.thread[rows].tolist()],
        parent=index[op_around[rows]],
        forward=_forward_ops(columns, rows),
    )


def _forward_ops(columns: Columns, rows: Ints) -> Ints:
    """For each backward op the row of the forward op that its `fwdbwd` arrow comes from."""
    forward = np.full(len(rows), -1, dtype=np.int64)
    arrows = columns.flows.arrows("fwdbwd")
    if not arrows:
        return forward
    place = _places(columns.spans, rows)
    for tail, head in arrows:
        source, target = place.get(tail), place.get(head)
        if source is not None and target is not None:
            forward[target] = source
    return forward


def _places(spans: Spans, rows: Ints) -> dict[Moment, int]:
    """Where each op begins; of ops that begin together, the outermost."""
    place: dict[Moment, int] = {}
    for i, row in enumerate(rows.tolist()):
        place.setdefault(spans.moment(row), i)
    return place
