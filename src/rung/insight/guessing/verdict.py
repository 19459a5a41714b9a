"""What became of a guess: a value to look at, test, print and save."""

from __future__ import annotations

import html
import re
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from rung import units
from rung.insight.guessing.places import Place
from rung.insight.guessing.wants import cut
from rung.visible import visible

MOST = 44

Got = int | float | str | list[str] | None
"""A count, ns for times, a share from 0 to 1, text for dtypes, a list for an order; None: cannot be told."""


@dataclass(frozen=True, slots=True)
class Check:
    """One expectation on one instance of a region. `evidence` names what was counted, `place` says where the
    expectation is written."""

    region: str
    step: int | None
    key: str
    want: str
    got: Got
    held: bool
    evidence: tuple[str, ...] = ()
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One expectation over all instances of a region, for showing."""

    label: str
    got: str
    held: bool
    evidence: str
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A region's name, with how many instances it has, and its rows."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a guess holds. `reason` says why it could not be judged, if so; `bool(verdict)` is `held`."""

    held: bool
    reason: str | None
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.held

    @property
    def conclusion(self) -> str:
        if self.reason is not None:
            return f"The guess does not hold, for it cannot be judged: {self.reason}"
        return "The guess holds." if self.held else "The guess does not hold."

    def sections(self) -> list[Section]:
        """The checks by region and expectation, instances side by side."""
        grouped: dict[str, dict[str, list[Check]]] = {}
        for check in self.checks:
            rows = grouped.setdefault(_title(check.region), {})
            rows.setdefault(f"{check.key} {check.want}", []).append(check)
        return [_section(title, rows) for title, rows in grouped.items()]

    def to_dict(self) -> dict[str, Any]:
        """The members of `rung guess --json`."""
        fields = ("region", "step", "key", "want", "got", "held")
        checks = [{field: getattr(check, field) for field in fields} for check in self.checks]
        return {"held": self.held, "reason": self.reason, "checks": checks}

    def __str__(self) -> str:
        seen = visible(self)
        lines: list[str] = list(seen.notes)
        for section in seen.sections():
            label, got = widths(section)
            lines.append(section.title)
            for row in section.rows:
                line = f"  {row.label:<{label}}   {row.got:<{got}}   {yes_no(row.held):<3}   {row.evidence}"
                lines.append(line.rstrip())
        return "\n".join([*lines, seen.conclusion])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def widths(section: Section) -> tuple[int, int]:
    """Of the labels and of what was got, in characters; what is longer than `MOST` sticks out."""

    def widest(texts: list[str]) -> int:
        return max((len(text) for text in texts if len(text) <= MOST), default=0)

    return widest([row.label for row in section.rows]), widest([row.got for row in section.rows])


def yes_no(held: bool) -> str:
    return "yes" if held else "no"


def _title(region: str) -> str:
    """Steps are instances of one region, though each has its own name."""
    return "profiler steps" if re.fullmatch(r"ProfilerStep\s?#\d+", region) else region


def _section(title: str, rows: dict[str, list[Check]]) -> Section:
    instances = max(len(checks) for checks in rows.values())
    return Section(
        f"{title} ({units.count(instances, 'instance')})",
        tuple(_row(label, checks) for label, checks in rows.items()),
    )


def _row(label: str, checks: list[Check]) -> Row:
    """The evidence is that of the first instance that fails: the others mostly fail alike."""
    failed = next((check for check in checks if not check.held), None)
    evidence = _few(failed.evidence) if failed else ""
    return Row(cut(label), _gots(checks), failed is None, evidence, checks[0].place)


def _gots(checks: list[Check]) -> str:
    """`4, 4, 4`; where that grows long, each value with how often it came."""
    texts = [_shown(check) for check in checks]
    if len(texts) <= 6 and sum(map(len, texts)) <= 40:
        return ", ".join(texts)
    counts = Counter(texts).most_common()
    shown = [text if count == 1 else f"{text} (x{count})" for text, count in counts[:4]]
    return "; ".join(shown + ["..."] * (len(counts) > 4))


def _few(items: tuple[str, ...], most: int = 3) -> str:
    more = f", and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(cut(item) for item in items[:most]) + more


def _shown(check: Check) -> str:
    match check.key, check.got:
        case _, None:
            return "?"
        case "gpu_idle_share", int() | float() as share:
            return f"{100 * share:.3g} %"
        case "gpu_busy" | "cpu", int() as ns:
            return units.duration(ns)
        case _, list() as items:
            return _runs(items)
        case _, got:
            return str(got)


def _runs(items: list[str], most: int = 8) -> str:
    """`["gemm", "gemm", "pointwise"]` -> `"gemm x2, pointwise"`, cut after `most` runs."""
    runs = [(cut(name, 60), len(list(same))) for name, same in groupby(items)]
    texts = [name if count == 1 else f"{name} x{count}" for name, count in runs[:most]]
    return ", ".join(texts + ["..."] * (len(runs) > most)) or "nothing"
