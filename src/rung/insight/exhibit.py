"""One trace laid out for looking at: its verdict and findings, its kernels, where the time goes, and when."""

from __future__ import annotations

from dataclasses import dataclass

from rung.insight.breakdown import Breakdown, breakdown
from rung.insight.findings import Case, examine
from rung.insight.forward import Forward
from rung.insight.roofline import Roofline
from rung.insight.timeline import BUDGET, Timeline, timeline
from rung.insight.tree import Tree, tree
from rung.insight.why import Why, concluded
from rung.trace import Region, Trace


@dataclass(frozen=True, slots=True)
class Exhibit:
    """All there is to show of a trace.

    `groups` are the forward's rows as they are listed: one by one, or, where there are many, alike ones
    together, the dearest first; `unlisted` rows are in none of them. `group_of` tells which group a kernel
    (by its row in its table) belongs to, or, where ops stand in for kernels, an op; `opens_ns` is where the
    typical instance lies on the timeline.
    """

    label: str
    trace: Trace
    why: Why
    forward: Forward
    roofline: Roofline
    breakdown: Breakdown
    tree: Tree
    timeline: Timeline
    groups: tuple[tuple[int, ...], ...]
    unlisted: tuple[int, ...]
    group_of: dict[int, int]
    opens_ns: tuple[int, int]


def exhibit(
    trace: Trace,
    label: str,
    region: str | None = None,
    step: int | None = None,
    between: tuple[int, int] | None = None,
    most: int = BUDGET,
) -> Exhibit:
    """Lay out the outermost region of a trace (or the named one), and the whole timeline or a stretch of it,
    with `most` spans.

    Raises:
        UsageError: the trace has no such step, or no region of that name (in that step).
    """
    case = examine(trace, region, step)
    told = case.forwards[0]
    drawn = timeline(trace, between, most)
    example = told.example
    starts = example.start_ns - drawn.start_ns
    groups = _groups(told)
    listed = groups[:LISTED]
    return Exhibit(
        label=label,
        trace=trace,
        why=concluded(case),
        forward=told,
        roofline=case.rooflines[0],
        breakdown=breakdown(told),
        tree=tree(example),
        timeline=drawn,
        groups=listed,
        unlisted=tuple(row for rows in groups[LISTED:] for row in rows),
        group_of=_group_of(listed, case),
        opens_ns=(starts, starts + example.wall_ns),
    )


def budget(exhibits: int) -> int:
    """Spans of each of so many on one page, which weighs 6 MB at most."""
    return min(BUDGET, 3 * BUDGET // exhibits)


MANY = 200
"""Above this many rows, alike ones are listed together."""

LISTED = 1000
"""Groups: about 700 kB of a page."""


def _groups(told: Forward) -> tuple[tuple[int, ...], ...]:
    if len(told.rows) <= MANY:
        return tuple((i,) for i in range(len(told.rows)))
    alike: dict[object, list[int]] = {}
    for i, row in enumerate(told.rows):
        alike.setdefault((row.name, row.op, row.shapes), []).append(i)
    spent = {key: sum(told.rows[i].dur_ns.median for i in rows) for key, rows in alike.items()}
    return tuple(tuple(alike[key]) for key in sorted(alike, key=lambda key: -spent[key]))


def _group_of(groups: tuple[tuple[int, ...], ...], case: Case) -> dict[int, int]:
    """What is drawn of the instances that ran just what the forward lists, by its row."""
    group_of_row = {row: number for number, rows in enumerate(groups) for row in rows}
    return {
        kernel: group_of_row[row]
        for one in case.alike(case.forwards[0])
        for row, kernel in enumerate(_shown(case.trace, one))
        if row in group_of_row
    }


def _shown(trace: Trace, one: Region) -> list[int]:
    """The rows of its kernels, or of the ops that stand in for them."""
    rows: list[int] = one.work.rows.tolist()
    return [int(trace.tables.kernels.op[row]) for row in rows] if trace.stand_in else rows
