"""Launch -> device work: by correlation, else by flow, else by stream order."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rung.trace.columns import Columns, Ints, Spans
from rung.trace.flows import Moment
from rung.trace.link_args import as_id
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
    `correlation` is 0 where there is none; `contested` counts calls that claim one which another call has.
    """

    device_rows: Ints
    launch: Ints
    op: Ints
    launches: Ints
    graph: NDArray[np.bool_]
    correlation: Ints
    stream: list[int | str | None]
    device: list[int | str | None]
    contested: int


def link(columns: Columns, nesting: Nesting) -> Links:
    """Join every piece of device work to the call that launched it, where the file says so."""
    spans = columns.spans
    device_rows, calls = spans.rows(*DEVICE_SIDE), spans.rows(Role.CALL)
    stream, device = _lanes(spans, device_rows)
    of_work, of_calls = spans.links.of_work, spans.links.of_calls

    call_of, contested = _calls_by_correlation(nesting, calls, of_calls, of_work)
    launch = call_of(of_work)
    op = np.full(len(device_rows), -1, dtype=np.int64)
    _link_by_flow(columns, device_rows, launch, op)
    launches = _launches(spans, nesting, calls, np.append(launch[launch >= 0], contested))
    # Work whose correlation names a launch outside the file is no candidate: its launch is not among these.
    adrift = (of_work == 0) & (launch < 0) & (op < 0)
    link_by_order(spans, device_rows, list(zip(device, stream, strict=True)), launch, launches, adrift)

    graph = spans.named(GRAPH_LAUNCH.search, launches) | np.isin(launches, launch[spans.links.graph])
    return Links(device_rows, launch, op, launches, graph, of_work, stream, device, len(contested))


def _lanes(spans: Spans, rows: Ints) -> tuple[list[int | str | None], list[int | str | None]]:
    """Stream and device of each piece of work: as its arguments say, else its tid and pid."""
    threads = [(as_id(pid), as_id(tid)) for pid, tid in spans.threads]
    thread = spans.thread[rows].tolist()
    stream = [s if s is not None else threads[t][1] for s, t in zip(spans.links.stream, thread, strict=True)]
    device = [d if d is not None else threads[t][0] for d, t in zip(spans.links.device, thread, strict=True)]
    return stream, device


def _calls_by_correlation(
    nesting: Nesting, calls: Ints, of_calls: Ints, of_work: Ints
) -> tuple[Callable[[Ints], Ints], Ints]:
    """A function from correlations to their launching calls' rows, and further calls that claim one.

    A runtime call and the driver call inside it may share an id: the inner one is the launch.
    """
    claim = np.flatnonzero((of_calls != 0) & np.isin(of_calls, of_work))
    ids, first = np.unique(of_calls[claim], return_index=True)
    chosen = calls[claim[first]]
    contested: list[int] = []
    for i in np.setdiff1d(claim, claim[first], assume_unique=True).tolist():
        row, place = int(calls[i]), int(np.searchsorted(ids, of_calls[i]))
        other = int(chosen[place])
        if _is_inside(nesting, row, other):
            chosen[place] = row
        elif not _is_inside(nesting, other, row):
            contested.append(row)

    def call_of(correlation: Ints) -> Ints:
        place = np.searchsorted(ids, correlation)
        found = (np.append(ids, 0)[place] == correlation) & (correlation != 0)
        return np.where(found, np.append(chosen, -1)[place], -1)

    return call_of, np.array(contested, dtype=np.int64)


def _is_inside(nesting: Nesting, row: int, outer: int) -> bool:
    while row >= 0 and row != outer:
        row = int(nesting.parent[row])
    return row == outer


def _link_by_flow(columns: Columns, device_rows: Ints, launch: Ints, op: Ints) -> None:
    """Follow arrows that end where unlinked work begins, back to the call or op they start from."""
    unlinked = np.flatnonzero(launch < 0)
    spans = columns.spans
    arrows = columns.flows.arrows(arriving=spans.start[device_rows[unlinked]]) if unlinked.size else []
    tails = {head: tail for tail, head in arrows}
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


def _launches(spans: Spans, nesting: Nesting, calls: Ints, known: Ints) -> Ints:
    """Rows of all launching calls, by time. A call that only wraps another launch is not counted again."""
    launches, wraps = np.zeros((2, len(spans) + 1), dtype=bool)  # the last for the parent -1, which is none
    launches[known] = True
    wraps[nesting.parent[known]] = True
    named = calls[spans.named(LAUNCH_NAME.fullmatch, calls) & ~launches[calls]]
    outer = launches.copy()
    outer[named] = True
    launches[named[~wraps[named] & ~outer[nesting.parent[named]]]] = True
    rows = np.flatnonzero(launches)
    return rows[np.argsort(spans.start[rows], kind="stable")]
