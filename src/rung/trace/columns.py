"""From decoded events to columns: the spans of a trace, each with its role, and the flows between them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

import msgspec
import numpy as np
from msgspec import Raw
from numpy.typing import NDArray

from rung.trace import clock
from rung.trace.document import Document, Event
from rung.trace.warnings import Warning

Ints = NDArray[np.int64]
Thread = tuple[int | str | None, int | str | None]


class Role(IntEnum):
    """What a span is. Only the last three are work on a device."""

    OTHER = 0
    OP = 1
    ANNOTATION = 2
    FRAME = 3
    CALL = 4
    KERNEL = 5
    COPY = 6
    MEMSET = 7


ROLES = {
    "cpu_op": Role.OP,
    "operator": Role.OP,
    "user_annotation": Role.ANNOTATION,
    "python_function": Role.FRAME,
    "kernel": Role.KERNEL,
    "mtia_ccp_events": Role.KERNEL,
    "gpu_memcpy": Role.COPY,
    "memcpy": Role.COPY,
    "gpu_memset": Role.MEMSET,
    "memset": Role.MEMSET,
}
"""By category in lower case; the 2021 schema wrote `Kernel`, `Operator`, `Memcpy`."""


def role_of(category: str, pid: int | str | None) -> Role:
    """The role of a complete event. Runtime and driver calls are known by the end of their category."""
    category = category.lower()
    if category.endswith(("runtime", "driver")):
        return Role.CALL
    if not category and isinstance(pid, str):  # the legacy autograd exporter names the process instead
        legacy = {"CPU functions": Role.OP, "CUDA functions": Role.KERNEL}
        return legacy.get(pid, Role.OTHER)
    return ROLES.get(category, Role.OTHER)


@dataclass(frozen=True, slots=True)
class Spans:
    """The complete ("X") events, and B/E pairs joined, one row each in file order. Times in absolute ns.

    `timed` is false for rows whose time is missing, zero or impossible: they are counted, never summed.
    `raw_dur` keeps the duration as recorded, also a negative one.
    """

    name: list[str]
    category: list[str]
    role: NDArray[np.int8]
    start: Ints
    dur: Ints
    raw_dur: Ints
    timed: NDArray[np.bool_]
    thread: Ints
    threads: list[Thread]
    args: list[Raw]

    def rows(self, *roles: Role) -> Ints:
        return np.flatnonzero(np.isin(self.role, roles))


@dataclass(frozen=True, slots=True)
class Flow:
    """One end of an arrow: phase "s" (start) or "f" (finish)."""

    category: str
    id: int | str | None
    thread: Thread
    at: int


@dataclass(frozen=True, slots=True)
class Columns:
    spans: Spans
    flow_starts: list[Flow]
    flow_ends: list[Flow]
    warnings: list[Warning]


def build(document: Document) -> Columns:
    """Sort a document's events into spans and flows; metadata, instants and counters carry no time of their own."""
    phases: dict[str, list[int]] = {}
    for i, event in enumerate(document.events):
        phases.setdefault(event.ph, []).append(i)
    joined, unfinished = _join_begin_end(document, phases.get("B", []), phases.get("E", []))
    durations = document.dur.copy()
    for row, dur in joined.items():
        durations[row] = dur
    rows = np.array(sorted([*phases.get("X", []), *joined]), dtype=np.int64)
    spans, warnings = _spans(document, rows, durations)
    if unfinished:
        warnings.append(
            Warning("unfinished-event", unfinished, None, "begin (B) events without an end, left out of sums")
        )
    return Columns(
        spans,
        [_flow(document, i) for i in phases.get("s", [])],
        [_flow(document, i) for i in phases.get("f", [])],
        warnings,
    )


def _join_begin_end(document: Document, begins: list[int], ends: list[int]) -> tuple[dict[int, int], int]:
    """Durations (ns) of B events by row, ended by the E that closes them on their thread."""
    stacks: dict[Thread, list[int]] = {}
    durations: dict[int, int] = {}
    for i in sorted([*begins, *ends], key=lambda i: int(document.start[i])):
        event = document.events[i]
        stack = stacks.setdefault((event.pid, event.tid), [])
        if event.ph == "B":
            stack.append(i)
        elif stack:
            begin = stack.pop()
            durations[begin] = int(document.start[i] - document.start[begin])
    left = [i for stack in stacks.values() for i in stack]
    return durations | dict.fromkeys(left, UNFINISHED), len(left)


UNFINISHED = -1000
"""The duration (ns) of a span whose end was never recorded: Kineto's own -1 us."""


def _flow(document: Document, row: int) -> Flow:
    event = document.events[row]
    return Flow(event.cat, event.id, (event.pid, event.tid), int(document.start[row]))


def _spans(document: Document, rows: Ints, durations: Ints) -> tuple[Spans, list[Warning]]:
    events = [document.events[i] for i in rows.tolist()]
    threads: dict[Thread, int] = {}
    thread = [threads.setdefault((e.pid, e.tid), len(threads)) for e in events]
    start, raw_dur = document.start[rows], durations[rows]
    timed, dur, warnings = _clean_times(start, raw_dur)
    names: dict[str, str] = {}
    spans = Spans(
        name=[names.setdefault(e.name, e.name) for e in events],
        category=[e.cat for e in events],
        role=_roles(events),
        start=start,
        dur=dur,
        raw_dur=raw_dur,
        timed=timed,
        thread=np.array(thread, dtype=np.int64),
        threads=list(threads),
        args=[e.args for e in events],
    )
    return spans, warnings


def _roles(events: list[Event]) -> NDArray[np.int8]:
    known: dict[tuple[str, bool, int | str | None], Role] = {}
    roles = np.empty(len(events), dtype=np.int8)
    for i, event in enumerate(events):
        legacy = not event.cat
        key = (event.cat, legacy, event.pid if legacy else None)
        if key not in known:
            known[key] = role_of(event.cat, event.pid)
        role = known[key]
        if role == Role.OP and event.name.startswith("ProfilerStep"):
            role = Role.ANNOTATION  # the 2021 schema filed annotations under `Operator`
        roles[i] = role
    return roles


def _clean_times(start: Ints, raw_dur: Ints) -> tuple[NDArray[np.bool_], Ints, list[Warning]]:
    """Which rows have a usable start, and durations with nothing negative or missing in them."""
    no_start = start == clock.NO_TIME
    zero = ~no_start & (start <= 0) & _far_from_the_rest(start, no_start)
    no_dur = raw_dur == clock.NO_TIME
    negative = ~no_dur & (raw_dur < 0)
    unfinished = negative & ((raw_dur == UNFINISHED) | (raw_dur == -start))
    found: list[Warning] = []
    if (no_start | zero).any():
        count = int((no_start | zero).sum())
        found.append(Warning("zero-time", count, None, "events at time zero or with none, left out of sums"))
    if (unfinished | no_dur).any():
        count = int((unfinished | no_dur).sum())
        found.append(Warning("unfinished-event", count, None, "events without an end, left out of sums"))
    if (negative & ~unfinished).any():
        count = int((negative & ~unfinished).sum())
        found.append(Warning("negative-duration", count, None, "negative durations, left out of sums"))
    return ~(no_start | zero), np.where(no_dur | negative, 0, raw_dur), found


def _far_from_the_rest(start: Ints, missing: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether time zero lies further from the positive times than those span: a lost time, not an origin."""
    positive = start[~missing & (start > 0)]
    far = bool(positive.size) and int(positive.min()) > int(positive.max()) - int(positive.min())
    return np.full(len(start), far)


class LinkArgs(msgspec.Struct, gc=False):
    """The arguments of device events and runtime calls that links are made of."""

    correlation: int | float | str | None = None
    stream: int | float | str | None = None
    sycl_queue: int | float | str | None = msgspec.field(name="sycl queue", default=None)
    device: int | float | str | None = None
    graph: int | float | str | None = msgspec.field(name="graph id", default=None)


_LINK_ARGS = msgspec.json.Decoder(LinkArgs)
_DIGITS = re.compile(r"-?\d{1,18}")


def link_args(raw: Raw) -> LinkArgs:
    """Decode what links need; arguments of another shape count as absent."""
    try:
        return _LINK_ARGS.decode(raw)
    except msgspec.DecodeError:
        return LinkArgs()


def as_int(value: float | str | None) -> int | None:
    """The integer an id was written as, `7` or `"7"`; None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        return int(value) if _DIGITS.fullmatch(value.strip()) else None
    return int(value) if float(value).is_integer() and abs(value) < 2**63 else None
