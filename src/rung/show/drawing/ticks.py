"""Round numbers for axes."""

from __future__ import annotations

import math


def round_steps(end: float, about: int) -> list[int]:
    """Multiples of 1, 2 or 5 times a power of ten from 0 to `end`, about so many."""
    raw = max(end / about, 1)
    power = 10 ** math.floor(math.log10(raw))
    step = next(int(power * m) for m in (1, 2, 5, 10) if power * m >= raw)
    return list(range(0, int(end) + 1, step))


def decades(low: float, high: float) -> list[float]:
    """The powers of ten from the one below `low` to the one above `high`."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return [10.0**n for n in range(first, max(last, first + 1) + 1)]
