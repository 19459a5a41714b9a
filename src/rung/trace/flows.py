"""Arrows between events: Chrome's flow events, a start and one or more finishes with one id."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from rung.trace.clock import Ints
from rung.trace.events import Event
from rung.trace.warnings import Warning

Thread = tuple[int | str | None, int | str | None]
Key = tuple[str, int | str | None]


class Moment(NamedTuple):
    """A place in the trace: `(pid, tid)` and absolute ns."""

    thread: Thread
    at: int


@dataclass(frozen=True, slots=True)
class Flows:
    """The flow events of a trace; arrows are made of them on demand, for few are ever followed.

    Finishes without a start are no news: most recordings on a GPU have them, up to 28,196 in one file.
    """

    events: list[Event]
    start: Ints
    starts: list[int]
    finishes: list[int]

    def arrows(self, category: str | None = None) -> list[tuple[Moment, Moment]]:
        """From where each arrow starts to where it ends. An id with several starts makes no arrow."""
        starts = [i for i in self.starts if category in (None, self.events[i].cat)]
        collided = self._collided()
        tails = {key: self._moment(i) for i in starts if (key := self._key(i)) not in collided}
        return [(tails[key], self._moment(i)) for i in self.finishes if (key := self._key(i)) in tails]

    def warnings(self) -> list[Warning]:
        count = len(self._collided())
        text = "arrow ids with several starts: these arrows are not followed"
        return [Warning("id-collision", count, None, text)] if count else []

    def _collided(self) -> set[Key]:
        counts = Counter(map(self._key, self.starts))
        return {key for key, count in counts.items() if count > 1}

    def _key(self, row: int) -> Key:
        return self.events[row].cat, self.events[row].id

    def _moment(self, row: int) -> Moment:
        event = self.events[row]
        return Moment((event.pid, event.tid), int(self.start[row]))
