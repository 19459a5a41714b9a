"""Arrows between events: Chrome's flow events, a start and one or more finishes with one id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rung.trace.warnings import Warning

Thread = tuple[int | str | None, int | str | None]


class Moment(NamedTuple):
    """A place in the trace: `(pid, tid)` and absolute ns."""

    thread: Thread
    at: int


class Flow(NamedTuple):
    """One end of an arrow, as written."""

    category: str
    id: int | str | None
    moment: Moment


class Arrow(NamedTuple):
    """From the event that begins at `tail` to the one that begins at `head`."""

    category: str
    tail: Moment
    head: Moment


def join(starts: Iterable[Flow], finishes: Iterable[Flow]) -> tuple[list[Arrow], list[Warning]]:
    """The arrows that have both ends. An id with two starts joins nothing.

    Finishes without a start are no news: most recordings on a GPU have them, up to 28,196 in one file.
    """
    tails: dict[tuple[str, int | str | None], Moment] = {}
    collided = set()
    for flow in starts:
        key = flow.category, flow.id
        if tails.setdefault(key, flow.moment) != flow.moment:
            collided.add(key)
    for key in collided:
        del tails[key]
    arrows = [
        Arrow(flow.category, tails[flow.category, flow.id], flow.moment)
        for flow in finishes
        if (flow.category, flow.id) in tails
    ]
    if not collided:
        return arrows, []
    return arrows, [
        Warning("id-collision", len(collided), None, "arrow ids with several starts: not followed")
    ]
