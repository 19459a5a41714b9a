"""Fewer spans than there are, and how many that leaves out."""

from __future__ import annotations

import numpy as np

from rung.insight.timeline.gathering import Gathered
from rung.trace.tables import Ints


def longest(spans: Gathered, budget: int) -> tuple[Ints, int]:
    """The rows that fit a budget, and the ns below which one is left out; 0 if all fit.

    The longest stay, for they are what can be seen; of device work a launch is kept with its kernel.
    """
    count = len(spans.name)
    if count <= budget:
        return np.arange(count), 0
    weight = spans.dur_ns.copy()
    launched = spans.positions_of_launches()
    has = launched >= 0
    np.maximum.at(weight, launched[has], spans.dur_ns[has])
    kept = np.sort(np.argsort(-weight, kind="stable")[:budget])
    return kept, int(weight[kept].min())
