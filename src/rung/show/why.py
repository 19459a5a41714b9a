"""`rung why` in a terminal and as JSON: the answer, then what costs time, then what merely explains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rung import units
from rung.insight.findings import Finding
from rung.insight.why import Verdict, Why
from rung.show.fitting import point, table
from rung.show.plain import plain

T = TypeVar("T")

COSTS, NOTES, REGIONS = 5, 3, 6
"""How many of each are shown where not everything is asked for: a page one does not scroll past."""

CHEAP = 0.01
"""Share of the time below which a cost is left to --all."""

SEVERITY_STYLES = {"high": "bold red", "medium": "yellow", "low": "", "note": "dim"}


def page(why: Why, *, everything: bool = False) -> RenderableType:
    """The verdict, what could be, and the findings with their prices."""
    return Group(*_parts(why, everything))


def _parts(why: Why, everything: bool) -> Iterator[RenderableType]:
    yield from _answer(why)
    if len(why.regions) > 1:
        yield from ("", _regions(why.regions, everything))
    costs = why.costs if everything else _dearest(why.costs)
    notes = (*why.notes, *why.explanations) if everything else why.notes[:NOTES]
    if costs:
        yield from ("", findings(costs, with_region=len(why.regions) > 1))
    if notes:
        yield ""
        yield from (point(f"{one.id}: {one.title}") for one in notes)
    hidden = len(why.findings) - len(costs) - len(notes)
    if hidden:
        yield from ("", Text(f"{hidden} more with --all", style="dim"))


def _dearest(costs: Sequence[Finding]) -> Sequence[Finding]:
    """The first few, as far as they matter; the first in any case."""
    return [one for i, one in enumerate(costs[:COSTS]) if not i or one.share >= CHEAP]


def _answer(why: Why) -> Iterator[RenderableType]:
    for one in why.regions[:1]:
        yield plain(one.sentence, "bold")
        if one.outlook:
            yield plain(one.outlook)
    if not why.regions:
        yield plain("no region in this trace", "bold")
    yield from (plain(caution, "yellow") for caution in why.cautions)


def _regions(regions: Sequence[Verdict], everything: bool) -> Table:
    made = table("region", "times", "wall", "GPU busy", "verdict", right=(1, 2, 3))
    shown = _some(regions, REGIONS, everything)
    for one in shown:
        made.add_row(
            plain(one.region),
            str(one.instances),
            units.duration(one.wall_ns),
            units.duration(one.gpu_busy_ns) if one.gpu_busy_ns else "",
            one.limit,
        )
    if len(shown) < len(regions):
        made.add_row(Text(f"and {len(regions) - len(shown)} more", style="dim"))
    return made


def findings(found: Sequence[Finding], *, with_region: bool) -> Table:
    """Price, share and name of each; beside them what is seen, and below that what to do."""
    made = Table.grid(padding=(0, 2, 0, 0))
    for justify in ("right", "right", "left", "left"):
        made.add_column(justify=justify, no_wrap=justify == "right")
    for one in found:
        where = f"{one.region}: " if with_region and one.region is not None else ""
        price = (units.duration(one.cost_ns), units.percent(one.share))
        made.add_row(*price, plain(one.id, SEVERITY_STYLES[one.severity]), plain(f"{where}{one.title}"))
        made.add_row("", "", "", plain(one.advice, "dim"))
    return made


def _some(items: Sequence[T], most: int, everything: bool) -> Sequence[T]:
    return items if everything else items[:most]


def as_json(why: Why) -> dict[str, Any]:
    """`rung why --json`. Times in ns; every finding, the largest cost first."""
    return {
        "trace": {"path": why.path, "cautions": list(why.cautions)},
        "verdict": why.verdict,
        "findings": [finding_json(one) for one in why.findings],
        "regions": [asdict(one) for one in why.regions],
    }


def finding_json(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.id,
        "title": finding.title,
        "region": finding.region,
        "step": finding.step,
        "cost_ns": finding.cost_ns,
        "share": finding.share,
        "severity": finding.severity,
        "evidence": dict(finding.evidence),
        "advice": finding.advice,
    }
