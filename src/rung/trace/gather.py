"""From decoded events, batch by batch, to columns; the events themselves can go afterwards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import compress, count, islice
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from msgspec import Raw
from numpy.typing import NDArray

from rung.trace.clock import Ints
from rung.trace.event_times import Written, in_ns, written
from rung.trace.events import Event, decode_events
from rung.trace.link_args import LinkColumns, LinkGathering
from rung.trace.packed import PackedArgs, Packing
from rung.trace.pieces import Pieces
from rung.trace.roles import CPU_SIDE, DEVICE_SIDE, Role, role_of

Codes = NDArray[np.int32]


class Kind(NamedTuple):
    """What an event has in common with many others. Of marks the name says nothing: it is left empty."""

    ph: str
    cat: str
    pid: int | str | None
    tid: int | str | None
    name: str


@dataclass(frozen=True, slots=True)
class EventTable:
    """The events of a trace as columns, in file order.

    `span`, `start` and `dur` have a row for each event that takes time (X and B), `mark`, `at` and `mark_id`
    one for each that begins or ends an arrow (s, f) or ends a B (E); the others are counted alone. `span` and
    `mark` are rows of `kinds`, times are absolute ns, `clock.NO_TIME` where there is none. `args` are kept of
    ops, calls and device work, `links` of the last two: those alone are ever asked for.
    """

    kinds: list[Kind]
    span: Codes
    start: Ints
    dur: Ints
    args: PackedArgs
    links: LinkColumns
    mark: Codes
    at: Ints
    mark_id: list[int | str | None]
    count: int
    any_phase: bool
    """Whether any event says what it is."""

    def spans_of(self, phase: str) -> Ints:
        return self._rows(self.span, phase)

    def marks_of(self, *phases: str) -> Ints:
        return self._rows(self.mark, *phases)

    def _rows(self, codes: Codes, *phases: str) -> Ints:
        return np.flatnonzero(np.array([kind.ph in phases for kind in self.kinds], dtype=bool)[codes])

    def followed_by(self, other: EventTable) -> EventTable:
        """The events of two parts of a trace as one."""
        code = {kind: i for i, kind in enumerate(dict.fromkeys([*self.kinds, *other.kinds]))}
        known = np.array([code[kind] for kind in other.kinds], dtype=np.int32)
        return EventTable(
            kinds=list(code),
            span=np.concatenate([self.span, known[other.span]]),
            start=np.concatenate([self.start, other.start]),
            dur=np.concatenate([self.dur, other.dur]),
            args=self.args.followed_by(other.args),
            links=self.links.followed_by(other.links),
            mark=np.concatenate([self.mark, known[other.mark]]),
            at=np.concatenate([self.at, other.at]),
            mark_id=self.mark_id + other.mark_id,
            count=self.count + other.count,
            any_phase=self.any_phase or other.any_phase,
        )


class Blocks(Protocol):
    """Text in blocks: a source, a stream, or a half of one."""

    def blocks(self) -> Iterator[bytes]: ...


def gathered(source: Blocks, stacks: bool) -> tuple[EventTable, Pieces[Sequence[Event]]]:
    """All events of a trace, decoded strictly, and the pieces it came in.

    Raises:
        msgspec.DecodeError: the text is damaged, or no trace.
    """
    pieces = Pieces(source.blocks(), decode_events)
    gathering = Gathering(stacks)
    for events, text in pieces:
        gathering.add(events, text)
    return gathering.table(), pieces


class Gathering:
    """Collects batches of events into an `EventTable`; without `stacks` Python frames are counted alone."""

    def __init__(self, stacks: bool = True) -> None:
        self._stacks = stacks
        self._kinds: defaultdict[tuple[Any, ...], int] = defaultdict(count().__next__)
        self._keeps: list[int] = []
        self._spans = [(_NO_CODES, _NO_INTS, _NO_INTS)]
        self._marks = [(_NO_CODES, _NO_INTS)]
        self._mark_ids: list[int | str | None] = []
        self._args = Packing()
        self._links = LinkGathering()
        self._count = 0
        self._any_phase = False

    def add(self, events: Sequence[Event], text: bytes) -> None:
        """A batch, and the text that it was decoded from."""
        spans, marks = self._of_use(events)
        again = cache(lambda: self._of_use(written(text)))
        start = in_ns([e.ts for e in spans], lambda: [e.ts for e in again()[0]])
        dur = in_ns([e.dur for e in spans], lambda: [e.dur for e in again()[0]])
        at = in_ns([e.ts for e in marks], lambda: [e.ts for e in again()[1]])
        span = self._codes([(e.ph, e.cat, e.pid, e.tid, e.name) for e in spans])
        mark = self._codes([(e.ph, e.cat, e.pid, e.tid, "") for e in marks])
        self._spans.append((span, start, dur))
        self._marks.append((mark, at))
        self._mark_ids += [e.id for e in marks]
        self._add_args([e.args for e in spans], span)
        self._count += len(events)
        self._any_phase = self._any_phase or any(e.ph for e in events)

    def _of_use(self, events: Sequence[T]) -> tuple[list[T], list[T]]:
        """The spans among some events, and the marks."""
        spans = [e for e in events if e.ph in SPANS]
        if not self._stacks:
            spans = [e for e in spans if e.cat != FRAME_CATEGORY]
        return spans, [e for e in events if e.ph in MARKS]

    def _codes(self, kinds: list[tuple[Any, ...]]) -> Codes:
        return np.fromiter(map(self._kinds.__getitem__, kinds), np.int32, len(kinds))

    def _add_args(self, args: list[Raw], span: Codes) -> None:
        self._keeps += [_keeps(Kind(*kind)) for kind in islice(self._kinds, len(self._keeps), None)]
        keeps = np.array(self._keeps, dtype=np.int8)[span]
        lengths = np.fromiter(map(len, args), np.int32, len(args)) * (keeps >= ARGS)
        self._args.add(lengths, b"".join(compress(args, keeps.tolist())))
        calls, work = (list(compress(args, (keeps == what).tolist())) for what in (OF_CALL, OF_WORK))
        self._links.add(calls, work)

    def table(self) -> EventTable:
        span, start, dur = map(np.concatenate, zip(*self._spans, strict=True))
        mark, at = map(np.concatenate, zip(*self._marks, strict=True))
        return EventTable(
            kinds=[Kind(*kind) for kind in self._kinds],
            span=span,
            start=start,
            dur=dur,
            args=self._args.packed(),
            links=self._links.columns(),
            mark=mark,
            at=at,
            mark_id=self._mark_ids,
            count=self._count,
            any_phase=self._any_phase,
        )


T = TypeVar("T", Event, Written)

SPANS, MARKS = frozenset("XB"), frozenset("sfE")
FRAME_CATEGORY = "python_function"

NOTHING, ARGS, OF_CALL, OF_WORK = range(4)
"""What is kept of a span beside its columns: its arguments, and what a call or work says in them of links."""

_NO_CODES: Codes = np.zeros(0, dtype=np.int32)
_NO_INTS: Ints = np.zeros(0, dtype=np.int64)


def _keeps(kind: Kind) -> int:
    role = role_of(kind.cat, kind.pid)
    if role in DEVICE_SIDE:
        return OF_WORK
    return OF_CALL if role == Role.CALL else ARGS if role in CPU_SIDE - {Role.FRAME} else NOTHING
