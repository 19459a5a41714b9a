"""`rung why A B` in a terminal and as JSON: how much longer B takes, and what makes it so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rung import units
from rung.insight.culprits import Culprit
from rung.insight.regression import Regression, Shift
from rung.show import why as shown
from rung.show.diff import verdict
from rung.show.fitting import point
from rung.show.plain import plain

CULPRITS, FINDINGS = 8, 4
"""How many of each are shown where not everything is asked for."""


def page(found: Regression, *, everything: bool = False) -> RenderableType:
    """The answer, the changes by what they add, what is found in B alone, and what no longer is."""
    return Group(*_parts(found, everything))


def _parts(found: Regression, everything: bool) -> Iterator[RenderableType]:
    yield plain(found.sentence, "bold")
    if found.split:
        yield plain(found.split)
    yield from (plain(caution, "yellow") for caution in found.cautions)
    yield ""
    culprits = found.culprits if everything else found.culprits[:CULPRITS]
    yield _changes(culprits) if culprits else verdict(found.diff.changed, found.diff.unchanged)
    appeared = found.appeared if everything else found.appeared[:FINDINGS]
    if appeared:
        yield from ("", Text("Found in B alone", style="bold"))
        yield from (point(f"{one.id}: {one.title}") for one in appeared)
    if found.vanished:
        yield from ("", Text("No longer found", style="bold"))
        yield point(units.listing(list(dict.fromkeys(one.id for one in found.vanished))))
    hidden = len(found.culprits) - len(culprits) + len(found.appeared) - len(appeared)
    if hidden:
        yield from ("", Text(f"{hidden} more with --all", style="dim"))


def _changes(culprits: Sequence[Culprit]) -> Table:
    made = Table.grid(padding=(0, 2, 0, 0))
    made.add_column(justify="right", no_wrap=True)
    for one in culprits:
        sign, style = ("+", "red") if one.delta_ns >= 0 else ("-", "green")
        doubt = "" if one.sure else "within the spread" if one.sure is False else "one step"
        change = Text(f"{sign}{units.duration(abs(one.delta_ns))}", style=style)
        made.add_row(change, one.side, plain(one.title), Text(doubt, style="dim"))
    return made


def as_json(found: Regression) -> dict[str, Any]:
    """`rung why A B --json`. Times in ns; `delta_ns` is what B takes more."""
    return {
        "a": found.diff.a.example.trace.path,
        "b": found.diff.b.example.trace.path,
        "region": found.diff.b.region,
        "verdict": found.sentence,
        "wall": _shift(found.wall),
        "gpu": _shift(found.gpu),
        "cpu": _shift(found.cpu),
        "waiting_delta_ns": found.waiting_delta_ns,
        "launches": [found.diff.a.launches, found.diff.b.launches],
        "cautions": list(found.cautions),
        "changes": [asdict(one) for one in found.culprits],
        "findings": [shown.finding_json(one) for one in found.appeared],
        "no_longer": [shown.finding_json(one) for one in found.vanished],
    }


def _shift(shift: Shift) -> dict[str, Any]:
    return {
        "a_ns": shift.a.median,
        "b_ns": shift.b.median,
        "delta_ns": shift.delta_ns,
        "sure": shift.sure,
        "steps": list(shift.steps),
    }
