"""What became of a gate: a value to look at, test, print and save."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rung import units
from rung.insight.guessing.places import Place
from rung.insight.guessing.wants import cut
from rung.visible import visible

Side = int | float | list[str] | None
"""A count, ns, a share, or names; None: it cannot be told."""


@dataclass(frozen=True, slots=True)
class GateCheck:
    """One line of a gate. `base` and `new` are medians over the instances of the region; `reason` says why it
    could not be judged; `evidence` names the work behind it."""

    region: str
    key: str
    want: str
    base: Side
    new: Side
    held: bool
    reason: str | None = None
    evidence: tuple[str, ...] = ()
    place: Place | None = None

    @property
    def line(self) -> str:
        return f"{self.key} {self.want}".rstrip()

    def shown(self) -> tuple[str, str, str]:
        """BASE, NEW and their difference as text."""
        if isinstance(self.base, list) or isinstance(self.new, list):
            return "", "", "the same" if self.held else "differs"
        if self.base is None or self.new is None:
            return _number(self.key, self.base), _number(self.key, self.new), ""
        return _number(self.key, self.base), _number(self.key, self.new), _difference(self)

    def why(self) -> str:
        """What is behind a line that does not hold."""
        return self.reason or ", ".join(cut(name, 70) for name in self.evidence[:3]) + _more(self.evidence, 3)


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """Whether NEW may take the place of BASE. `bool(verdict)` is `held`."""

    held: bool
    reason: str | None
    checks: tuple[GateCheck, ...]
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.held

    @property
    def conclusion(self) -> str:
        if self.reason is not None and not self.checks:
            return f"The gate does not hold, for it cannot be judged: {self.reason}"
        if unjudged := sum(check.reason is not None for check in self.checks):
            return f"The gate does not hold: {units.count(unjudged, 'line')} of it cannot be judged."
        return "The gate holds." if self.held else "The gate does not hold."

    def to_dict(self) -> dict[str, Any]:
        """The member `gate` of `rung diff --json`."""
        fields = ("region", "key", "want", "base", "new", "held", "reason")
        checks = [{field: getattr(check, field) for field in fields} for check in self.checks]
        return {"held": self.held, "reason": self.reason, "notes": list(self.notes), "checks": checks}

    def __str__(self) -> str:
        seen = visible(self)
        rows = [(check.line, *check.shown(), "yes" if check.held else "no") for check in seen.checks]
        widths = [max((len(cell) for cell in column), default=0) for column in zip(*rows, strict=True)]
        lines = [*seen.notes]
        for check, row in zip(seen.checks, rows, strict=True):
            cells = "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            lines.append(f"{check.region}: {cells}   {'' if check.held else check.why()}".rstrip())
        return "\n".join([*lines, seen.conclusion])

    def __repr__(self) -> str:
        return str(self)


def _number(key: str, value: Side) -> str:
    if value is None:
        return "?"
    if key in ("gpu_busy", "cpu") and isinstance(value, int):
        return units.duration(value)
    return f"{100 * value:.3g} %" if isinstance(value, float) else str(value)


def _difference(check: GateCheck) -> str:
    base, new = check.base, check.new
    assert isinstance(base, int | float)
    assert isinstance(new, int | float)
    if isinstance(base, float):
        return f"{100 * (new - base):+.3g} points"
    if check.key in ("gpu_busy", "cpu"):
        return f"{100 * (new - base) / base:+.1f} %" if base else ""
    return f"{new - base:+}"


def _more(items: tuple[str, ...], most: int) -> str:
    return f", and {len(items) - most} more" if len(items) > most else ""
