"""From decoded events, batch by batch, to columns; the events themselves can go afterwards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rung.trace.clock import Ints
from rung.trace.events import Event
from rung.trace.link_args import LinkColumns, LinkGathering
from rung.trace.packed import PackedArgs, Packing
from rung.trace.roles import CPU_SIDE, DEVICE_SIDE, Role, role_of

Codes = NDArray[np.int32]


class Lane(NamedTuple):
    """What an event has in common with many others."""

    ph: str
    cat: str
    pid: int | str | None
    tid: int | str | None


@dataclass(frozen=True, slots=True)
class EventTable:
    """All events in file order. `name` and `lane` are rows of `names` and `lanes`.

    `start` and `dur` are absolute ns, `clock.NO_TIME` where there is none. `args` are kept of ops, calls and
    device work, `links` of the last two, `flow_ids` of arrows: those alone are ever asked for.
    """

    name: Codes
    lane: Codes
    names: list[str]
    lanes: list[Lane]
    start: Ints
    dur: Ints
    args: PackedArgs
    links: LinkColumns
    flow_ids: list[int | str | None]

    def __len__(self) -> int:
        return len(self.name)

    def rows(self, *phases: str) -> Ints:
        """The rows of some phases (`ph`)."""
        return np.flatnonzero(np.array([lane.ph in phases for lane in self.lanes], dtype=bool)[self.lane])


class Gathering:
    """Collects batches of events into an `EventTable`."""

    def __init__(self, stacks: bool = True) -> None:
        self._stacks = stacks
        self.frames_left_out = 0
        self._names: defaultdict[str, int] = defaultdict(count().__next__)
        self._lanes: defaultdict[tuple[object, ...], int] = defaultdict(count().__next__)
        self._keeps: list[int] = []
        self._columns: list[tuple[Codes, Codes, Ints, Ints]] = []
        self._args = Packing()
        self._links = LinkGathering()
        self._flow_ids: list[int | str | None] = []

    def add(self, events: Sequence[Event], start: Ints, dur: Ints) -> None:
        """A batch and its times in ns."""
        if not self._stacks:
            events, start, dur = self._without_frames(events, start, dur)
        lane = _codes(self._lanes.__getitem__, [(e.ph, e.cat, e.pid, e.tid) for e in events])
        name = _codes(self._names.__getitem__, [e.name for e in events])
        self._keeps += [_keeps(Lane(*key)) for key in islice(self._lanes, len(self._keeps), None)]  # type: ignore[arg-type]
        keeps = np.array(self._keeps, dtype=np.int8)[lane]
        self._columns.append((name, lane, start, dur))
        self._pack(events, np.flatnonzero(keeps >= ARGS))
        linked = [events[i].args for i in np.flatnonzero(keeps >= CALL_LINKS).tolist()]
        self._links.add(linked, keeps[keeps >= CALL_LINKS] == DEVICE_LINKS)
        self._flow_ids += [events[i].id for i in np.flatnonzero(keeps == ARROW).tolist()]

    def _without_frames(
        self, events: Sequence[Event], start: Ints, dur: Ints
    ) -> tuple[list[Event], Ints, Ints]:
        rows = [i for i, event in enumerate(events) if event.cat != FRAME_CATEGORY]
        self.frames_left_out += len(events) - len(rows)
        return [events[i] for i in rows], start[rows], dur[rows]

    def _pack(self, events: Sequence[Event], rows: Ints) -> None:
        texts = [events[i].args for i in rows.tolist()]
        lengths = np.zeros(len(events), dtype=np.int32)
        lengths[rows] = np.fromiter(map(len, texts), np.int32, len(texts))
        self._args.add(lengths, b"".join(texts))

    def table(self) -> EventTable:
        empty = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
        columns = list(zip(*self._columns, strict=True)) or [(empty[0],)] * 2 + [(empty[1],)] * 2
        self._columns = []
        name, lane, start, dur = (np.concatenate(column) for column in columns)
        lanes = [Lane(*key) for key in self._lanes]  # type: ignore[arg-type]
        return EventTable(
            name.astype(np.int32, copy=False),
            lane.astype(np.int32, copy=False),
            list(self._names),
            lanes,
            start.astype(np.int64, copy=False),
            dur.astype(np.int64, copy=False),
            self._args.packed(),
            self._links.columns(),
            self._flow_ids,
        )


FRAME_CATEGORY = "python_function"

NOTHING, ARROW, ARGS, CALL_LINKS, DEVICE_LINKS = range(5)
"""What is kept of an event beside its columns; each from ARGS on keeps its arguments too."""


def _keeps(lane: Lane) -> int:
    if lane.ph in ("s", "f"):
        return ARROW
    if lane.ph not in ("X", "B"):
        return NOTHING
    role = role_of(lane.cat, lane.pid)
    if role in DEVICE_SIDE:
        return DEVICE_LINKS
    return CALL_LINKS if role == Role.CALL else ARGS if role in CPU_SIDE - {Role.FRAME} else NOTHING


def _codes(code: Callable[..., int], keys: Sequence[object]) -> Codes:
    return np.fromiter(map(code, keys), np.int32, len(keys))
