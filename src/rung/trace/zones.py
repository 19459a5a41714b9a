"""Annotated stretches of CPU time, and what happens inside them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rung.trace.columns import Ints, Spans
from rung.trace.nesting import nest
from rung.trace.tables import Members, members


@dataclass(frozen=True, slots=True)
class Zones:
    """Annotation instances, by start, outer ones first. Times in absolute ns; `dur` is as recorded.

    `row` is the row in `Spans`, -1 for the whole trace as one zone. `parent` is a row of this table or -1.
    """

    name: list[str]
    row: Ints
    start: Ints
    end: Ints
    dur: Ints
    parent: Ints
    thread: Ints


def zones_of(spans: Spans, end: Ints, rows: Ints) -> Zones:
    """The zones that some rows make."""
    order = rows[np.lexsort((-end[rows], spans.start[rows]))]
    start, end, thread = spans.start[order], end[order], spans.thread[order]
    own = nest(start, end, thread).parent
    parent = np.where(own >= 0, own, _containers(end))
    return Zones(spans.names(order), order, start, end, spans.times.dur[order], parent, thread)


def _containers(end: Ints) -> Ints:
    """For zones by start, the last earlier one that ends no sooner: the innermost that contains it, or -1."""
    found = np.full(len(end), -1, dtype=np.int64)
    open_: list[int] = []
    ends = end.tolist()
    for i, until in enumerate(ends):
        while open_ and ends[open_[-1]] < until:
            open_.pop()
        if open_:
            found[i] = open_[-1]
        open_.append(i)
    return found


def locate(zones: Zones, at: Ints, thread: Ints) -> Ints:
    """The innermost zone around each moment, on its own thread first, else on any: -1 where there is none.

    Autograd launches backward kernels from a thread of its own, inside an annotation of the main thread.
    """
    if len(zones.row) and zones.row[0] == -1:
        return np.zeros(len(at), dtype=np.int64)
    found = _innermost(zones, np.arange(len(zones.row)), at)
    for own_thread in np.unique(zones.thread):
        here = np.flatnonzero(thread == own_thread)
        own = _innermost(zones, np.flatnonzero(zones.thread == own_thread), at[here])
        found[here] = np.where(own >= 0, own, found[here])
    return found


def _innermost(zones: Zones, chosen: Ints, at: Ints) -> Ints:
    """Of the chosen zones, the last to begin before each moment that has not ended by then."""
    start, end = zones.start[chosen], zones.end[chosen]
    outer = _containers(end)
    found = np.searchsorted(start, at, side="right") - 1
    while (over := np.flatnonzero((found >= 0) & (np.append(end, 0)[found] <= at))).size:
        found[over] = outer[found[over]]
    return np.append(chosen, -1)[found]


def contents(zones: Zones, innermost: Ints) -> Members:
    """Which items each zone holds, those of the zones inside it included."""
    items, zone = np.flatnonzero(innermost >= 0), innermost[innermost >= 0]
    all_items, all_zones = [items], [zone]
    while items.size:
        zone = zones.parent[zone]
        items, zone = items[zone >= 0], zone[zone >= 0]
        all_items.append(items)
        all_zones.append(zone)
    return members(np.concatenate(all_zones), len(zones.row), np.concatenate(all_items))
