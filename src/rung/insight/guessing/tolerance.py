"""Times with a tolerance: `<= 220 us ± 10 %`, `<= baseline ± 5 us`, on the baseline's device only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from rung.errors import UsageError
from rung.insight.guessing.wants import Amount, Comparison, amount, shown

BASELINE = "baseline"
_SPLIT = re.compile(r"(?P<bound>.*?)\s*(?:±|\+/-|\+-)\s*(?P<slack>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Near:
    """A time in ns around which some slack is given: a share of it, or ns. `bound` None: the baseline's time,
    the median over its instances of the region."""

    comparison: Comparison
    bound: Fraction | None
    slack: Fraction
    relative: bool

    def around(self, baseline_ns: int | None) -> Amount:
        """The comparison with the slack taken into its bound."""
        bound = Fraction(baseline_ns or 0) if self.bound is None else self.bound
        room = bound * self.slack if self.relative else self.slack
        if self.comparison == "==":
            return Amount("in", (max(bound - room, Fraction(0)), bound + room), "time")
        away = room if self.comparison in ("<", "<=") else -room
        return Amount(self.comparison, (max(bound + away, Fraction(0)),), "time")

    def __str__(self) -> str:
        bound = BASELINE if self.bound is None else _text(self.bound, "time")
        if not self.slack:
            return f"{self.comparison} {bound}"
        return f"{self.comparison} {bound} ± {_text(self.slack, 'share' if self.relative else 'time')}"


def is_near(text: str) -> bool:
    """Whether the value of a time has a tolerance or speaks of the baseline."""
    return text.strip().startswith(BASELINE) or _SPLIT.fullmatch(text.strip()) is not None


def near(key: str, comparison: Comparison, text: str) -> Near:
    """Read the value of a time with a tolerance."""
    if comparison in ("!=", "in"):
        raise UsageError(f"{key}: a tolerance goes with == < <= > >=, not {comparison}")
    match = _SPLIT.fullmatch(text.strip())
    bound_text, slack_text = (match["bound"], match["slack"]) if match else (text.strip(), "0 %")
    bound = None if bound_text == BASELINE else amount(key, comparison, bound_text, "time").bounds[0]
    relative = slack_text.rstrip().endswith("%")
    try:
        slack = amount(key, comparison, slack_text, "share" if relative else "time").bounds[0]
    except UsageError:
        raise UsageError(
            f"{key}: a tolerance is a share or a time, such as '± 10 %' or '± 5 us', not {shown(slack_text)}"
        ) from None
    return Near(comparison, bound, slack, relative)


def _text(value: Fraction, unit: str) -> str:
    written = str(Amount("==", (value,), "share" if unit == "share" else "time"))
    return written.removeprefix("== ")
