"""Arithmetic on time intervals in integer ns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def union_ns(start: NDArray[np.int64], end: NDArray[np.int64]) -> int:
    """The length of the union of the intervals `[start, end)`."""
    if not len(start):
        return 0
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    reached = np.concatenate([start[:1], np.maximum.accumulate(end)[:-1]])
    return int(np.maximum(end - np.maximum(start, reached), 0).sum())
