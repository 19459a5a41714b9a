"""Work on one stream that the recording lets overrun what follows it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rung.trace.tables import Bools, Ints
from rung.trace.warnings import Warning


def clip_overruns(
    start: Ints, dur: Ints, lane: Ints, timed: Bools
) -> tuple[NDArray[np.int64], list[Warning]]:
    """Clip work that lasts beyond the end of its successor on the stream to the successor's start.

    Streams run in order, so such an end is a recording error. A shorter overlap is real (programmatic
    dependent launch) or clock noise: it is counted and left alone.
    """
    rows = np.flatnonzero(timed)
    rows = rows[np.lexsort((start[rows] + dur[rows], start[rows], lane[rows]))]
    this, after = rows[:-1], rows[1:]
    same = lane[this] == lane[after]
    end, end_after = start[this] + dur[this], start[after] + dur[after]
    overrun = same & (end > end_after)
    overlap = same & ~overrun & (end > start[after])
    clipped = dur.copy()
    clipped[this[overrun]] = (start[after] - start[this])[overrun]
    found: list[Warning] = []
    if overrun.any():
        text = "device events that outlast their successor on the stream, clipped to its start"
        found.append(Warning("clipped-duration", int(overrun.sum()), None, text))
    if overlap.any():
        text = "device events that overlap their successor on the stream (dependent launch or clock noise)"
        found.append(Warning("overlap", int(overlap.sum()), None, text))
    return clipped, found
