"""From columns of events to the spans of a trace, each with its role, and the flows between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rung.trace.clock import NO_TIME
from rung.trace.document import Document
from rung.trace.flows import Flows, Moment, Thread
from rung.trace.gather import EventTable
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
    begins = events.rows("B")
    durations = events.dur
    if begins.size:
        joined = _join_begin_end(events, begins.tolist(), events.rows("E").tolist())
        durations = durations.copy()
        durations[list(joined)] = list(joined.values())
    threads: dict[Thread, int] = {}
    thread_of = np.array(
        [threads.setdefault((lane.pid, lane.tid), len(threads)) for lane in events.lanes], dtype=np.int64
    )
    rows = events.rows("X", "B")
    spans, warnings = _spans(events, rows, durations, thread_of[events.lane[rows]], list(threads))
    flows = Flows.of(events, thread_of)
    return Columns(spans, flows, [*warnings, *flows.warnings()])


def _join_begin_end(events: EventTable, begins: list[int], ends: list[int]) -> dict[int, int]:
    """Durations (ns) of B events by row, ended by the E that closes them on their thread."""
    stacks: dict[Thread, list[int]] = {}
    durations = dict.fromkeys(begins, UNFINISHED)
    when = events.start
    for i in sorted([*begins, *ends], key=when.__getitem__):
        lane = events.lanes[events.lane[i]]
        stack = stacks.setdefault((lane.pid, lane.tid), [])
        if when[i] == NO_TIME:
            continue
        if lane.ph == "B":
            stack.append(i)
        elif stack:
            begin = stack.pop()
            durations[begin] = int(when[i] - when[begin])
    return durations


def _spans(
    events: EventTable, rows: Ints, durations: Ints, thread: Ints, threads: list[Thread]
) -> tuple[Spans, list[Warning]]:
    times, warnings = clean_times(events.start[rows], durations[rows])
    spans = Spans(
        name_code=events.name[rows],
        known_names=events.names,
        role=_roles(events, rows),
        times=times,
        thread=thread,
        threads=threads,
        args=events.args.take(rows),
        links=events.links,
    )
    return spans, warnings


def _roles(events: EventTable, rows: Ints) -> NDArray[np.int8]:
    by_lane: NDArray[np.int8] = np.array([role_of(e.cat, e.pid) for e in events.lanes], dtype=np.int8)
    roles = by_lane[events.lane[rows]] if rows.size else np.zeros(0, dtype=np.int8)
    # the 2021 schema filed its steps under `Operator`
    is_step = np.array([name.startswith("ProfilerStep") for name in events.names], dtype=bool)
    if is_step.any():
        roles[(roles == Role.OP) & is_step[events.name[rows]]] = Role.ANNOTATION
    return roles
