"""Arrows between events: Chrome's flow events, a start and one or more finishes with one id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rung.trace.clock import Ints
from rung.trace.gather import EventTable
from rung.trace.warnings import Warning

Thread = tuple[int | str | None, int | str | None]


class Moment(NamedTuple):
    """A place in the trace: a thread's number and absolute ns."""

    thread: int
    at: int


@dataclass(frozen=True, slots=True)
class Flows:
    """The flow events of a trace; arrows are made of them on demand, for few are ever followed.

    An id belongs to its category: `key` is the same for events of one arrow. Finishes without a start are no
    news: most recordings on a GPU have them, up to 28,196 in one file.
    """

    key: Ints
    is_start: NDArray[np.bool_]
    thread: Ints
    at: Ints
    category: list[str]
    category_of: NDArray[np.int64]

    @classmethod
    def of(cls, events: EventTable, thread_of: Ints) -> Flows:
        """The flows among some events; `thread_of` numbers the threads of their kinds."""
        rows = events.marks_of("s", "f")
        kind = events.mark[rows]
        categories: dict[str, int] = {}
        code = [categories.setdefault(kind.cat, len(categories)) for kind in events.kinds]
        category_of = np.array(code, dtype=np.int64)[kind]
        starts = np.array([kind.ph == "s" for kind in events.kinds], dtype=bool)[kind]
        key = _numbered(events.mark_id)[rows] * max(len(categories), 1) + category_of
        return cls(key, starts, thread_of[kind], events.at[rows], list(categories), category_of)

    def arrows(
        self, category: str | None = None, arriving: Ints | None = None
    ) -> list[tuple[Moment, Moment]]:
        """From where each arrow starts to where it ends. An id with several starts makes no arrow.

        Of one `category`, of those `arriving` at one of some times (absolute ns).
        """
        wanted = np.ones(len(self.key), dtype=bool)
        if category is not None:
            wanted = self.category_of == (self.category.index(category) if category in self.category else -1)
        keys, first, count = np.unique(
            self.key[self.is_start & wanted], return_index=True, return_counts=True
        )
        tails = np.flatnonzero(self.is_start & wanted)[first][count == 1]
        keys = keys[count == 1]
        heads = np.flatnonzero(~self.is_start & wanted)
        if arriving is not None:
            heads = heads[np.isin(self.at[heads], arriving)]
        place = np.searchsorted(keys, self.key[heads])
        met = np.append(keys, -1)[place] == self.key[heads]
        pairs = zip(tails[place[met]].tolist(), heads[met].tolist(), strict=True)
        return [(self._moment(tail), self._moment(head)) for tail, head in pairs]

    def warnings(self) -> list[Warning]:
        _, counts = np.unique(self.key[self.is_start], return_counts=True)
        count = int((counts > 1).sum())
        text = "arrow ids with several starts: these arrows are not followed"
        return [Warning("id-collision", count, None, text)] if count else []

    def _moment(self, row: int) -> Moment:
        return Moment(int(self.thread[row]), int(self.at[row]))


def _numbered(ids: list[int | str | None]) -> Ints:
    """A number below 2^40 for each id, the same for the same id: an integer, as they all are, itself."""
    if set(map(type, ids)) == {int}:
        try:
            numbers = np.array(ids, dtype=np.int64)
        except OverflowError:
            numbers = np.full(1, -1)
        if numbers.min() >= 0 and numbers.max() < 1 << 40:
            return numbers
    known: dict[object, int] = {}
    return np.array([known.setdefault((type(i), i), len(known)) for i in ids], dtype=np.int64)
