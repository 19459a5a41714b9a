"""A number over several steps: the median, and how far it strays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spread:
    """Median, least and greatest of integers (ns unless said otherwise). The mean is left out on purpose: one
    throttled step would move it."""

    median: int
    low: int
    high: int

    @property
    def is_wide(self) -> bool:
        """Whether the values differ by more than a tenth of the median."""
        return self.high - self.low > self.median / 10

    def meets(self, other: Spread) -> bool:
        """Whether the better halves of two spreads meet. The worse halves are left out: what disturbs a step
        (the profiler's own first step, a throttled clock) only ever makes it longer."""
        return self.low <= other.median and other.low <= self.median


def spread(values: Iterable[int]) -> Spread:
    """The spread of at least one value.

    For an even number of them the median is the lower middle one, so that it is a value that occurred.
    """
    ordered = sorted(values)
    return Spread(ordered[(len(ordered) - 1) // 2], ordered[0], ordered[-1])
