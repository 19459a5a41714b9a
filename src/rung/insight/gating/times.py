"""Whether one time exceeds another by more than a limit, given how far each strays from step to step."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from rung.insight.gating.language import Delta
from rung.insight.guessing.untold import UntoldError
from rung.insight.guessing.wants import COMPARE
from rung.insight.spread import Spread, spread


def steady(values: Sequence[int]) -> Spread:
    """The spread without the lowest and highest of each five steps: one throttled step tells nothing."""
    aside = len(values) // 5
    kept = sorted(values)[aside : len(values) - aside]
    return Spread(spread(values).median, kept[0], kept[-1])


def compare_times(delta: Delta, base: Sequence[int], new: Sequence[int]) -> bool:
    """Whether the medians' difference keeps to the limit.

    Raises:
        UntoldError: there is one step only, or the steps differ by more than the limit and the two ranges do
            not settle it by themselves.
    """
    if min(len(base), len(new)) < 2:
        raise UntoldError("one step tells no spread: record several")
    a, b = steady(base), steady(new)
    limit = delta.limit(a.median)
    compare = COMPARE[delta.comparison]
    verdicts = {compare(Fraction(d), limit) for d in (b.low - a.high, b.median - a.median, b.high - a.low)}
    width = max(a.high - a.low, b.high - b.low)
    if len(verdicts) > 1 and width > abs(limit):
        raise UntoldError(
            f"the steps differ by {_of(width, a.median, delta)}, more than the"
            f" {_of(abs(limit), a.median, delta)} in question: record more steps, or allow more"
        )
    return bool(compare(Fraction(b.median - a.median), limit))


def _of(value: int | Fraction, median: int, delta: Delta) -> str:
    if delta.unit == "share":
        return f"{float(value) / 1e7:.3g} points"
    return f"{100 * float(value) / median:.3g} %" if median else f"{float(value) / 1000:g} us"
