"""Fewer spans than there are, and how long the longest of those is that are left out."""

from __future__ import annotations

import numpy as np

from rung.insight.timeline.gathering import Gathered
from rung.trace.tables import Bools, Ints

LETTERS = 32
"""Letters of a name that count as much as a span: both take about 32 bytes of a page."""


def longest(spans: Gathered, budget: int) -> tuple[Ints, int]:
    """The rows that fit a budget, and the ns of the longest one that does not; 0 if all fit.

    A span counts as one, a new name as one more for every `LETTERS` of it. The longest stay, for they are
    what can be seen: of device work, each kernel with its launch, as many as of all other spans, as long as
    there are more of both.
    """
    weight = spans.dur_ns.copy()
    launched = spans.positions_of_launches()
    has = launched >= 0
    np.maximum.at(weight, launched[has], spans.dur_ns[has])
    on_device = np.array([role == "kernel" for role in spans.role], dtype=bool)
    on_device[launched[has]] = True
    pair = np.where(has, launched, np.arange(len(weight)))
    ranked = _in_turn(np.lexsort((pair, -weight)), on_device)
    fit = int(np.searchsorted(np.cumsum(_costs(spans, ranked)), budget, "right"))
    return np.sort(ranked[:fit]), int(weight[ranked[fit:]].max(initial=0))


def _in_turn(ranked: Ints, on_device: Bools) -> Ints:
    """The same rows, those of both sides in turn."""
    device = on_device[ranked]
    turn = np.where(device, np.cumsum(device), np.cumsum(~device))
    return ranked[np.argsort(turn, kind="stable")]


def _costs(spans: Gathered, ranked: Ints) -> Ints:
    """What each span adds, in the order of the ranks."""
    known: set[str] = set()
    costs = np.ones(len(ranked), dtype=np.int64)
    for place, row in enumerate(ranked.tolist()):
        name = spans.name[row]
        if name not in known:
            known.add(name)
            costs[place] += len(name) // LETTERS
    return costs
