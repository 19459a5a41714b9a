"""Launch -> device work: by correlation, else by flow, else by stream order."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rung.trace.columns import Columns, Flow, Ints, LinkArgs, Role, Spans, as_int, link_args
from rung.trace.nesting import Nesting
from rung.trace.warnings import Warning

LAUNCH_NAME = re.compile(
    r"(?:cuda|cu|hip|mc|musa|ur|ze)\w*?(?:Launch(?!HostFunc|Attribute)|Mem(?:cpy|set)(?!\w*(?:Attribute|Node)))\w*"
)
"""Calls that put work on a device, for those whose work is not in the file. Linked calls need no such name."""

GRAPH_LAUNCH = re.compile(r"graph_?launch", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Links:
    """Rows are rows of `Spans`. `launch[i]` belongs to `device_rows[i]`; -1 where there is none.

    `op[i]` is set only where a flow joins an op to the work directly, with no launch between them.
    """

    device_rows: Ints
    launch: Ints
    op: Ints
    launches: Ints
    graph: NDArray[np.bool_]
    correlation: list[int | None]
    stream: list[int | str | None]
    device: list[int | str | None]
    warnings: list[Warning]


def link(columns: Columns, nesting: Nesting) -> Links:
    """Join every piece of device work to the call that launched it, where the file says so."""
    spans = columns.spans
    device_rows = spans.rows(Role.KERNEL, Role.COPY, Role.MEMSET)
    calls = spans.rows(Role.CALL)
    work = [link_args(spans.args[i]) for i in device_rows.tolist()]
    correlation = [as_int(a.correlation) or None for a in work]
    call_correlation = [as_int(link_args(spans.args[i]).correlation) or 0 for i in calls.tolist()]

    by_correlation, ambiguous_calls = _calls_by_correlation(
        spans, nesting, calls.tolist(), call_correlation, {c for c in correlation if c}
    )
    launch = np.array([by_correlation.get(c, -1) if c else -1 for c in correlation], dtype=np.int64)
    op = np.full(len(device_rows), -1, dtype=np.int64)
    _link_by_flow(columns, device_rows, launch, op)
    unlinked = np.array([c is None for c in correlation], dtype=bool) & (launch < 0) & (op < 0)
    known = set(launch[launch >= 0].tolist()) | ambiguous_calls
    launches = _launches(spans, nesting, calls, known)
    _link_by_order(spans, device_rows, launch, launches, unlinked)

    graph = np.array([GRAPH_LAUNCH.search(spans.name[i]) is not None for i in launches.tolist()], dtype=bool)
    in_graph = np.array([bool(as_int(a.graph)) for a in work], dtype=bool)
    graph |= np.isin(launches, launch[in_graph])
    links = Links(
        device_rows,
        launch,
        op,
        launches,
        graph,
        correlation,
        [_stream(a, spans, i) for a, i in zip(work, device_rows.tolist(), strict=True)],
        [_device(a, spans, i) for a, i in zip(work, device_rows.tolist(), strict=True)],
        [],
    )
    links.warnings.extend(_warnings(spans, links, len(ambiguous_calls)))
    return links


def _stream(args: LinkArgs, spans: Spans, row: int) -> int | str | None:
    for value in (args.stream, args.sycl_queue, spans.threads[spans.thread[row]][1]):
        if value is not None:
            return _id(value)
    return None


def _device(args: LinkArgs, spans: Spans, row: int) -> int | str | None:
    return _id(args.device if args.device is not None else spans.threads[spans.thread[row]][0])


def _id(value: float | str | None) -> int | str | None:
    number = as_int(value)
    return number if number is not None or value is None else str(value)


def _calls_by_correlation(
    spans: Spans, nesting: Nesting, calls: list[int], correlations: list[int], wanted: set[int]
) -> tuple[dict[int, int], set[int]]:
    """The launching call of each correlation that device work carries, and further calls that claim one.

    A runtime call and the driver call inside it may share an id: the inner one is the launch.
    """
    chosen: dict[int, int] = {}
    ambiguous: set[int] = set()
    for row, correlation in zip(calls, correlations, strict=True):
        if correlation not in wanted:
            continue
        other = chosen.get(correlation)
        if other is None or nesting.parent[row] == other:
            chosen[correlation] = row
        elif nesting.parent[other] != row:
            ambiguous.add(row)
    return chosen, ambiguous


def _launches(spans: Spans, nesting: Nesting, calls: Ints, known: set[int]) -> Ints:
    """Rows of all launching calls, by time. A call that only wraps another launch is not counted again."""
    named = [i for i in calls.tolist() if i not in known and LAUNCH_NAME.fullmatch(spans.name[i])]
    inside = {int(nesting.parent[i]) for i in known}
    named_set = set(named)
    extra = [
        i
        for i in named
        if i not in inside and int(nesting.parent[i]) not in known and int(nesting.parent[i]) not in named_set
    ]
    rows = np.array(sorted([*known, *extra]), dtype=np.int64)
    return rows[np.argsort(spans.start[rows], kind="stable")]


def _link_by_flow(columns: Columns, device_rows: Ints, launch: Ints, op: Ints) -> None:
    """Follow arrows that end where unlinked work begins, back to the call or op they start from."""
    unlinked = np.flatnonzero(launch < 0)
    if not unlinked.size or not columns.flow_ends:
        return
    spans = columns.spans
    starts = {_key(flow): flow for flow in columns.flow_starts}
    ends = {(flow.thread, flow.at): flow for flow in columns.flow_ends if _key(flow) in starts}
    sources: dict[tuple[object, int], int] = {}
    for row in spans.rows(Role.OP, Role.CALL).tolist():  # a call replaces the op that begins with it
        sources.setdefault((spans.threads[spans.thread[row]], int(spans.start[row])), row)
    for row in spans.rows(Role.CALL).tolist():
        sources[(spans.threads[spans.thread[row]], int(spans.start[row]))] = row
    for i in unlinked.tolist():
        row = int(device_rows[i])
        end = ends.get((spans.threads[spans.thread[row]], int(spans.start[row])))
        source = -1
        if end is not None:
            start = starts[_key(end)]
            source = sources.get((start.thread, start.at), -1)
        if source >= 0:
            (launch if spans.role[source] == Role.CALL else op)[i] = source


def _key(flow: Flow) -> tuple[str, int | str | None]:
    return flow.category, flow.id


def _link_by_order(
    spans: Spans, device_rows: Ints, launch: Ints, launches: Ints, unlinked: NDArray[np.bool_]
) -> None:
    """Pair work without a correlation with launches without work, if both are equally many and in order.

    Work whose correlation names a launch outside the file is no candidate: its launch is not among these.
    """
    work = np.flatnonzero(unlinked & spans.timed[device_rows])
    free = launches[~np.isin(launches, launch)]
    if not work.size or len(work) != len(free):
        return
    work = work[np.argsort(spans.start[device_rows[work]], kind="stable")]
    if (spans.start[device_rows[work]] >= spans.start[free]).all():
        launch[work] = free


def _warnings(spans: Spans, links: Links, ambiguous_calls: int) -> list[Warning]:
    found: list[Warning] = []
    linked = links.launch >= 0
    orphans = int((~linked & (links.op < 0)).sum())
    if orphans:
        text = "device events with no launch in the file: launched before the window, or their link was lost"
        found.append(Warning("unlinked", orphans, None, text))
    idle = int((~np.isin(links.launches, links.launch)).sum())
    if idle and len(links.device_rows):
        found.append(Warning("launch-without-kernel", idle, None, "launches whose device work is not in the file"))
    kernels_of = np.bincount(np.searchsorted(np.sort(links.launches), links.launch[linked]))
    many = np.zeros(len(links.launches), dtype=bool)
    many[: len(kernels_of)] = kernels_of > 1
    order = np.argsort(links.launches, kind="stable")
    several = int((many & ~links.graph[order]).sum())
    if several + ambiguous_calls:
        text = "launches that share a correlation, or are no graph launch and have several kernels"
        found.append(Warning("ambiguous-link", several + ambiguous_calls, None, text))
    early = spans.start[links.device_rows[linked]] - spans.start[links.launch[linked]]
    early = early[spans.timed[links.device_rows[linked]]]
    if (early < 0).any():
        text = f"device events that begin before their launch, by up to {-int(early.min())} ns: clocks differ"
        found.append(Warning("clock-skew", int((early < 0).sum()), None, text))
    return found
