"""Lanes: annotations, each CPU thread with its nested ops and calls, each stream of each device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rung.insight.timeline.gathering import Gathered, gather
from rung.insight.timeline.reducing import longest
from rung.trace import Trace
from rung.trace.nesting import nest
from rung.trace.tables import Ints

LaneKind = Literal["annotation", "cpu", "gpu"]

BUDGET = 60_000
"""Spans, or letters of names in their stead. A page of as many weighs about 2 MB."""


@dataclass(frozen=True, slots=True)
class Lane:
    """Spans of one thread or stream by start, in ns since the timeline's start.

    `name` counts in the timeline's names. `depth` is how many spans of the lane lie around one. `row` is its
    row in the table that `role` names (`region`, `op`, `launch`, `call`, `kernel`). `link` is the span that
    launched it, counted over all lanes; -1 for none.
    """

    label: str
    kind: LaneKind
    name: Ints
    start_ns: Ints
    dur_ns: Ints
    depth: Ints
    role: Sequence[str]
    row: Ints
    link: Ints

    def __len__(self) -> int:
        return len(self.name)


@dataclass(frozen=True, slots=True)
class Timeline:
    """A stretch of a trace. `total` spans lie in it; where that is more than are shown, none of those left
    out is longer than `left_out_ns`."""

    start_ns: int
    dur_ns: int
    names: tuple[str, ...]
    lanes: tuple[Lane, ...]
    total: int
    left_out_ns: int

    @property
    def shown(self) -> int:
        return sum(map(len, self.lanes))


def timeline(trace: Trace, between: tuple[int, int] | None = None, budget: int = BUDGET) -> Timeline:
    """The lanes of a trace, or of a stretch of it (ns since its first event)."""
    start, end = between or (0, trace.span_ns)
    spans = gather(trace, start, end)
    kept, left_out = longest(spans, budget)
    chosen = spans.take(kept)
    names = {name: i for i, name in enumerate(dict.fromkeys(chosen.name))}
    order = _by_lane(chosen)
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    launched_by = chosen.positions_of_launches()
    link = np.where(launched_by >= 0, number[launched_by], -1)
    lanes = tuple(_lane(chosen, rows, names, link, start) for rows in _lanes(chosen, order))
    return Timeline(start, end - start, tuple(names), lanes, len(spans.name), left_out)


def _by_lane(spans: Gathered) -> Ints:
    """The order in which spans are counted: lane by lane, by start, outer ones first."""
    return np.lexsort((-spans.dur_ns, spans.start_ns, spans.lane))


def _lanes(spans: Gathered, order: Ints) -> list[Ints]:
    cuts = np.flatnonzero(np.diff(spans.lane[order])) + 1
    return [rows for rows in np.split(order, cuts) if len(rows)]


def _lane(spans: Gathered, rows: Ints, names: dict[str, int], link: Ints, start: int) -> Lane:
    label, kind = spans.labels[int(spans.lane[rows[0]])]
    at, dur = spans.start_ns[rows], spans.dur_ns[rows]
    return Lane(
        label=label,
        kind=kind,
        name=np.array([names[spans.name[row]] for row in rows.tolist()], dtype=np.int64),
        start_ns=at - start,
        dur_ns=dur,
        depth=nest(at, at + dur, np.zeros(len(rows), dtype=np.int64)).depth,
        role=[spans.role[row] for row in rows.tolist()],
        row=spans.row[rows],
        link=link[rows],
    )
