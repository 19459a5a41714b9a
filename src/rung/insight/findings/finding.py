"""What a rule saw, and the finding it becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rung.insight.forward import Forward

Severity = Literal["high", "medium", "low", "note"]

HIGH, MEDIUM = 0.1, 0.02
"""Shares of the wall time from which a cost is worth a morning, or an hour."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """What a rule saw: a sentence with its number, its price, the events behind it, what to do about it.

    `cost_ns` is what one typical instance of the forward's region pays (the whole trace, without a forward),
    0 for what explains but costs nothing. `evidence` is plain data that JSON can hold, times in ns.
    """

    title: str
    advice: str
    forward: Forward | None = None
    cost_ns: int = 0
    evidence: Mapping[str, Any] = field(default_factory=dict)
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A conclusion with its evidence, price and advice.

    `share` is the cost over the region's median wall time (over the trace's span, where `region` is None),
    between 0 and 1.
    """

    id: str
    title: str
    region: str | None
    step: int | None
    cost_ns: int
    share: float
    evidence: Mapping[str, Any]
    advice: str

    @property
    def severity(self) -> Severity:
        """From the share alone: what costs nothing is a note."""
        if not self.cost_ns:
            return "note"
        return "high" if self.share >= HIGH else "medium" if self.share >= MEDIUM else "low"

    def __str__(self) -> str:
        return f"{self.id}: {self.title}"
