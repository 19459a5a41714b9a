"""From columns of events to the spans of a trace, each with its role, and the flows between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rung.trace.clock import NO_TIME
from rung.trace.document import Document
from rung.trace.flows import Flows, Moment, Thread
from rung.trace.gather import EventTable, Kind
from rung.trace.link_args import LinkColumns
from rung.trace.packed import PackedArgs
from rung.trace.roles import Role, role_of
from rung.trace.times import UNFINISHED, Times, clean_times
from rung.trace.warnings import Warning

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Spans:
    """The complete ("X") events, and B/E pairs joined, one row each in file order.

    `name_code` are rows of `known_names`: a name is held and looked at once, however often it occurs.
    `links` has a row for each call and each device event.
    """

    name_code: NDArray[np.int32]
    known_names: list[str]
    role: NDArray[np.int8]
    times: Times
    thread: Ints
    threads: list[Thread]
    args: PackedArgs
    links: LinkColumns

    def rows(self, *roles: Role) -> Ints:
        return np.flatnonzero(self.has(*roles))

    def has(self, *roles: Role) -> Bools:
        return np.isin(self.role, roles)

    def __len__(self) -> int:
        return len(self.role)

    def name(self, row: int) -> str:
        return self.known_names[int(self.name_code[row])]

    def names(self, rows: Ints) -> list[str]:
        return list(map(self.known_names.__getitem__, self.name_code[rows].tolist()))

    def named(self, wanted: Callable[[str], object], rows: Ints) -> Bools:
        """Of these rows, those whose name is wanted; each name is asked about once."""
        codes = self.name_code[rows]
        known = np.zeros(len(self.known_names), dtype=bool)
        for code in np.flatnonzero(np.bincount(codes, minlength=len(known))).tolist():
            known[code] = bool(wanted(self.known_names[code]))
        return known[codes]

    def moment(self, row: int) -> Moment:
        """Where the row begins."""
        return Moment(int(self.thread[row]), int(self.start[row]))

    @property
    def start(self) -> Ints:
        """Absolute ns."""
        return self.times.start

    @property
    def end(self) -> Ints:
        """Absolute ns."""
        return self.times.start + self.times.dur

    @property
    def timed(self) -> Bools:
        return self.times.timed


@dataclass(frozen=True, slots=True)
class Columns:
    spans: Spans
    flows: Flows
    warnings: list[Warning]


def build(document: Document) -> Columns:
    """Sort a document's events into spans and arrows; metadata, instants and counters take no time."""
    events = document.events
    threads: dict[Thread, int] = {}
    thread_of = np.array([threads.setdefault((k.pid, k.tid), len(threads)) for k in events.kinds], np.int64)
    names: dict[str, int] = {}
    name_of = np.array([names.setdefault(k.name, len(names)) for k in events.kinds], np.int32)
    role = np.array([_role(kind) for kind in events.kinds], np.int8)
    times, warnings = clean_times(events.start, _durations(events))
    spans = Spans(
        name_code=name_of[events.span],
        known_names=list(names),
        role=role[events.span],
        times=times,
        thread=thread_of[events.span],
        threads=list(threads),
        args=events.args,
        links=events.links,
    )
    flows = Flows.of(events, thread_of)
    return Columns(spans, flows, [*warnings, *flows.warnings()])


def _role(kind: Kind) -> Role:
    role = role_of(kind.cat, kind.pid)
    if role == Role.OP and kind.name.startswith("ProfilerStep"):
        return Role.ANNOTATION  # the 2021 schema filed its steps under `Operator`
    return role


def _durations(events: EventTable) -> Ints:
    """Durations (ns) of spans; a B lasts until the E that closes it on its thread."""
    begins, ends = events.spans_of("B"), events.marks_of("E")
    if not begins.size:
        return events.dur
    durations = events.dur.copy()
    durations[begins] = UNFINISHED
    moments = [(int(events.start[row]), False, row, events.span[row]) for row in begins.tolist()]
    moments += [(int(events.at[row]), True, row, events.mark[row]) for row in ends.tolist()]
    open_: defaultdict[Thread, list[int]] = defaultdict(list)
    for at, is_end, row, code in sorted(moments):
        around = open_[events.kinds[code].pid, events.kinds[code].tid]
        if at == NO_TIME:
            continue
        if not is_end:
            around.append(row)
        elif around:
            begin = around.pop()
            durations[begin] = at - events.start[begin]
    return durations
