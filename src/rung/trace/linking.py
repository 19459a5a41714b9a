"""Launch -> device work: by correlation, else by flow, else by stream order."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rung.trace.columns import Columns, Ints, Spans
from rung.trace.flows import Moment
from rung.trace.link_args import LinkArgs, as_id, as_int, link_args
from rung.trace.nesting import Nesting
from rung.trace.roles import DEVICE_SIDE, Role
from rung.trace.stream_order import link_by_order

LAUNCH_NAME = re.compile(
    r"(?:cuda|cu|hip|mc|musa|ur|ze)\w*?"
    r"(?:Launch(?!HostFunc|Attribute)|Mem(?:cpy|set)(?!\w*(?:Attribute|Node)))\w*"
)
"""Calls that put work on a device, even if the work is not in the file. A linked call needs no such name."""

GRAPH_LAUNCH = re.compile(r"graph_?launch", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Links:
    """Rows are rows of `Spans`. `launch[i]` belongs to `device_rows[i]`; -1 where there is none.

    `op[i]` is set only where a flow joins an op to the work directly, with no launch between them.
    `contested` counts calls that claim a correlation which another call has already.
    """

    device_rows: Ints
    launch: Ints
    op: Ints
    launches: Ints
    graph: NDArray[np.bool_]
    correlation: list[int | None]
    stream: list[int | str | None]
    device: list[int | str | None]
    contested: int


def link(columns: Columns, nesting: Nesting) -> Links:
    """Join every piece of device work to the call that launched it, where the file says so."""
    spans = columns.spans
    device_rows, calls = spans.rows(*DEVICE_SIDE), spans.rows(Role.CALL)
    work = [link_args(spans.args[i]) for i in device_rows.tolist()]
    stream = [_stream(a, spans, i) for a, i in zip(work, device_rows.tolist(), strict=True)]
    device = [_device(a, spans, i) for a, i in zip(work, device_rows.tolist(), strict=True)]
    correlation = [as_int(a.correlation) or None for a in work]

    call_of, contested = _calls_by_correlation(spans, nesting, calls.tolist(), set(correlation))
    launch = np.array([call_of.get(c, -1) if c else -1 for c in correlation], dtype=np.int64)
    op = np.full(len(device_rows), -1, dtype=np.int64)
    _link_by_flow(columns, device_rows, launch, op)
    launches = _launches(spans, nesting, calls, set(launch[launch >= 0].tolist()) | contested)
    # Work whose correlation names a launch outside the file is no candidate: its launch is not among these.
    adrift = np.array([c is None for c in correlation], dtype=bool) & (launch < 0) & (op < 0)
    link_by_order(spans, device_rows, list(zip(device, stream, strict=True)), launch, launches, adrift)

    in_graph = np.array([bool(as_int(a.graph)) for a in work], dtype=bool)
    replays = np.array([bool(GRAPH_LAUNCH.search(spans.name[i])) for i in launches.tolist()], dtype=bool)
    graph = replays | np.isin(launches, launch[in_graph])
    return Links(device_rows, launch, op, launches, graph, correlation, stream, device, len(contested))


def _stream(args: LinkArgs, spans: Spans, row: int) -> int | str | None:
    for value in (args.stream, args.sycl_queue):
        if value is not None:
            return as_id(value)
    return as_id(spans.threads[spans.thread[row]][1])


def _device(args: LinkArgs, spans: Spans, row: int) -> int | str | None:
    return as_id(args.device if args.device is not None else spans.threads[spans.thread[row]][0])


def _calls_by_correlation(
    spans: Spans, nesting: Nesting, calls: list[int], wanted: set[int | None]
) -> tuple[dict[int, int], set[int]]:
    """The launching call of each correlation that device work carries, and further calls that claim one.

    A runtime call and the driver call inside it may share an id: the inner one is the launch.
    """
    chosen: dict[int, int] = {}
    contested: set[int] = set()
    for row in calls:
        correlation = as_int(link_args(spans.args[row]).correlation)
        if not correlation or correlation not in wanted:
            continue
        other = chosen.setdefault(correlation, row)
        if other == row:
            continue
        if _is_inside(nesting, row, other):
            chosen[correlation] = row
        elif not _is_inside(nesting, other, row):
            contested.add(row)
    return chosen, contested


def _is_inside(nesting: Nesting, row: int, outer: int) -> bool:
    while row >= 0 and row != outer:
        row = int(nesting.parent[row])
    return row == outer


def _link_by_flow(columns: Columns, device_rows: Ints, launch: Ints, op: Ints) -> None:
    """Follow arrows that end where unlinked work begins, back to the call or op they start from."""
    unlinked = np.flatnonzero(launch < 0)
    tails = {head: tail for tail, head in columns.flows.arrows()} if unlinked.size else {}
    spans = columns.spans
    wanted = {
        tails[head]: None for head in map(spans.moment, device_rows[unlinked].tolist()) if head in tails
    }
    sources: dict[Moment, int] = {}
    for row in [*spans.rows(Role.OP).tolist(), *spans.rows(Role.CALL).tolist()] if wanted else ():
        if (moment := spans.moment(row)) in wanted:
            sources[moment] = row  # a call replaces the op that begins with it, an inner op the outer one
    for i in unlinked.tolist():
        tail = tails.get(spans.moment(device_rows[i]))
        source = sources.get(tail, -1) if tail else -1
        if source >= 0:
            (launch if spans.role[source] == Role.CALL else op)[i] = source


def _launches(spans: Spans, nesting: Nesting, calls: Ints, known: set[int]) -> Ints:
    """Rows of all launching calls, by time. A call that only wraps another launch is not counted again."""
    named = [i for i in calls.tolist() if i not in known and LAUNCH_NAME.fullmatch(spans.name[i])]
    wrappers = {int(nesting.parent[i]) for i in known}
    outer = known | set(named)
    extra = [i for i in named if i not in wrappers and int(nesting.parent[i]) not in outer]
    rows = np.array(sorted([*known, *extra]), dtype=np.int64)
    return rows[np.argsort(spans.start[rows], kind="stable")]
