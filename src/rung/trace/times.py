"""The times of spans as recorded, and what of them may be summed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rung.trace.clock import NO_TIME
from rung.trace.warnings import Code, Warning

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

UNFINISHED = -1000
"""The duration (ns) of a span whose end was never recorded: Kineto's own -1 us."""


@dataclass(frozen=True, slots=True)
class Times:
    """Absolute ns, one row a span.

    `timed` is false for rows whose start is missing or lost: they are counted, never summed. `dur` holds
    nothing negative; `raw_dur` is as recorded, `NO_TIME` where nothing was. `endless` spans have no end.
    """

    start: Ints
    dur: Ints
    raw_dur: Ints
    timed: Bools
    endless: Bools


def clean_times(start: Ints, raw_dur: Ints) -> tuple[Times, list[Warning]]:
    """Tell the times of spans that can be used from those that cannot."""
    missing = start == NO_TIME
    lost = missing | _lost(start, raw_dur, ~missing)
    negative = (raw_dur < 0) & (raw_dur != NO_TIME)
    unfinished = (raw_dur == NO_TIME) | (raw_dur == UNFINISHED) | (negative & (raw_dur == -start))
    endless = negative | unfinished
    counts: dict[Code, tuple[Bools, str]] = {
        "zero-time": (lost, "events at time zero or with none, left out of sums"),
        "unfinished-event": (unfinished, "events without an end, left out of sums"),
        "negative-duration": (negative & ~unfinished, "events that end before they begin, left out of sums"),
    }
    warnings = [
        Warning(code, int(rows.sum()), None, text) for code, (rows, text) in counts.items() if rows.any()
    ]
    return Times(start, np.where(endless, 0, raw_dur), raw_dur, ~lost, endless), warnings


def _lost(start: Ints, raw_dur: Ints, known: Bools) -> Bools:
    """Starts at zero that are a lost time and no origin: far from all other starts, and with no duration.

    Where the others count from an epoch, a duration does not save them: the trace would be 50 years long.
    """
    at_zero = known & (start <= 0)
    positive = start[known & (start > 0)]
    first, last = int(positive.min(initial=NEVER)), int(positive.max(initial=0))
    is_epoch = positive.size > 0 and first > A_YEAR
    is_origin = first <= last - first or not positive.size or (raw_dur[at_zero] > 0).any()
    return at_zero & (is_epoch or not is_origin)


A_YEAR = 365 * 24 * 3600 * 10**9
NEVER = int(np.iinfo(np.int64).max)
