"""What a rule saw, and the finding it becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rung.insight.forward import Forward, family_name
from rung.trace import Region, Trace

Severity = Literal["high", "medium", "low", "note"]

HIGH, MEDIUM = 0.1, 0.02
"""Shares of the wall time from which a cost is worth a morning, or an hour."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """What a rule saw: a sentence with its number, its price, the events behind it, what to do about it.

    It is about a typical instance of a forward's region, or about one `instance` alone (a cold first call),
    or, with neither, about the trace. `cost_ns` is the part of its wall time that the finding accounts for, 0
    for what explains but costs nothing. `evidence` is plain data that JSON can hold, times in ns.
    """

    title: str
    advice: str
    forward: Forward | None = None
    cost_ns: int = 0
    evidence: Mapping[str, Any] = field(default_factory=dict)
    instance: Region | None = None

    @property
    def region(self) -> str | None:
        """The region's name; None for what is about the trace."""
        if self.instance is not None:
            return family_name(self.instance)
        return self.forward.region if self.forward is not None else None

    def wall_ns(self, trace: Trace) -> int:
        """The time that the cost is a part of: a forward's median, one instance's, or the trace's span."""
        if self.instance is not None:
            return self.instance.wall_ns
        return self.forward.wall_ns.median if self.forward is not None else trace.span_ns


@dataclass(frozen=True, slots=True)
class Finding:
    """A conclusion with its evidence, price and advice.

    `share` is the cost over the region's median wall time (over that of the one instance in `step`, where the
    finding is about it; over the trace's span, where `region` is None), between 0 and 1.
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
