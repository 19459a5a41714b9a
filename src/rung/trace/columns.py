"""From decoded events to columns: the spans of a trace, each with its role, and the flows between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from msgspec import Raw
from numpy.typing import NDArray

from rung.trace.clock import NO_TIME
from rung.trace.document import Document
from rung.trace.events import Event
from rung.trace.flows import Flows, Moment, Thread
from rung.trace.roles import Role, role_of
from rung.trace.times import UNFINISHED, Times, clean_times
from rung.trace.warnings import Warning

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Spans:
    """The complete ("X") events, and B/E pairs joined, one row each in file order."""

    name: list[str]
    role: NDArray[np.int8]
    times: Times
    thread: Ints
    threads: list[Thread]
    args: list[Raw]

    def rows(self, *roles: Role) -> Ints:
        return np.flatnonzero(self.has(*roles))

    def has(self, *roles: Role) -> NDArray[np.bool_]:
        return np.isin(self.role, roles)

    def moment(self, row: int) -> Moment:
        """Where the row begins."""
        return Moment(self.threads[self.thread[row]], int(self.start[row]))

    @property
    def start(self) -> Ints:
        """Absolute ns."""
        return self.times.start

    @property
    def end(self) -> Ints:
        """Absolute ns."""
        return self.times.start + self.times.dur

    @property
    def timed(self) -> NDArray[np.bool_]:
        return self.times.timed


@dataclass(frozen=True, slots=True)
class Columns:
    spans: Spans
    flows: Flows
    warnings: list[Warning]


def build(document: Document) -> Columns:
    """Sort a document's events into spans and arrows; metadata, instants and counters take no time."""
    phases: dict[str, list[int]] = {}
    for i, event in enumerate(document.events):
        phases.setdefault(event.ph, []).append(i)
    joined = _join_begin_end(document, phases.get("B", []), phases.get("E", []))
    durations = document.dur
    if joined:
        durations = durations.copy()
        durations[list(joined)] = list(joined.values())
    rows = np.array(sorted([*phases.get("X", []), *joined]), dtype=np.int64)
    spans, warnings = _spans(document, rows, durations)
    flows = Flows(document.events, document.start, phases.get("s", []), phases.get("f", []))
    return Columns(spans, flows, [*warnings, *flows.warnings()])


def _join_begin_end(document: Document, begins: list[int], ends: list[int]) -> dict[int, int]:
    """Durations (ns) of B events by row, ended by the E that closes them on their thread."""
    stacks: dict[Thread, list[int]] = {}
    durations = dict.fromkeys(begins, UNFINISHED)
    when = document.start.tolist()
    for i in sorted([*begins, *ends], key=when.__getitem__):
        event = document.events[i]
        stack = stacks.setdefault((event.pid, event.tid), [])
        if when[i] == NO_TIME:
            continue
        if event.ph == "B":
            stack.append(i)
        elif stack:
            begin = stack.pop()
            durations[begin] = when[i] - when[begin]
    return durations


def _spans(document: Document, rows: Ints, durations: Ints) -> tuple[Spans, list[Warning]]:
    events = [document.events[i] for i in rows.tolist()]
    threads: dict[Thread, int] = {}
    thread = [threads.setdefault((e.pid, e.tid), len(threads)) for e in events]
    times, warnings = clean_times(document.start[rows], durations[rows])
    names: dict[str, str] = {}
    spans = Spans(
        name=[names.setdefault(e.name, e.name) for e in events],
        role=_roles(events),
        times=times,
        thread=np.array(thread, dtype=np.int64),
        threads=list(threads),
        args=[e.args for e in events],
    )
    return spans, warnings


def _roles(events: list[Event]) -> NDArray[np.int8]:
    known: dict[tuple[str, int | str | None], Role] = {}
    roles = np.empty(len(events), dtype=np.int8)
    for i, event in enumerate(events):
        key = (event.cat, None if event.cat else event.pid)
        role = known.get(key)
        if role is None:
            role = known[key] = role_of(event.cat, event.pid)
        if role == Role.OP and event.name.startswith("ProfilerStep"):
            role = Role.ANNOTATION  # the 2021 schema filed its steps under `Operator`
        roles[i] = role
    return roles
