"""One trace laid out for looking at: its verdict and findings, its kernels, where the time goes, and when."""

from __future__ import annotations

from dataclasses import dataclass

from rung.insight.breakdown import Breakdown, breakdown
from rung.insight.ceilings import ceiling_of
from rung.insight.forward import Forward, forward, instances, region_names
from rung.insight.roofline import Roofline, roofline
from rung.insight.timeline import BUDGET, Timeline, timeline
from rung.insight.tree import Tree, tree
from rung.insight.why import Why, why
from rung.trace import Trace


@dataclass(frozen=True, slots=True)
class Exhibit:
    """All there is to show of a trace.

    `groups` are the forward's rows as they are listed: one by one, or, where there are many, alike ones
    together, the dearest first. `group_of` tells which group a kernel (by its row in its table) belongs to;
    `opens_ns` is where the typical instance lies on the timeline.
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
    group_of: dict[int, int]
    opens_ns: tuple[int, int]


def exhibit(
    trace: Trace,
    label: str,
    region: str | None = None,
    step: int | None = None,
    between: tuple[int, int] | None = None,
    budget: int = BUDGET,
) -> Exhibit:
    """Lay out the outermost region of a trace (or the named one), and the whole timeline or a stretch of it.

    Raises:
        UsageError: the trace has no such step, or no region of that name (in that step).
    """
    name = region_names(trace, step)[0] if region is None else region
    told = forward(trace, name, step)
    drawn = timeline(trace, between, budget)
    example = told.example
    starts = example.start_ns - drawn.start_ns
    groups = _groups(told)
    return Exhibit(
        label=label,
        trace=trace,
        why=why(trace, region=region, step=step),
        forward=told,
        roofline=roofline(told, ceiling_of(trace)),
        breakdown=breakdown(told),
        tree=tree(example),
        timeline=drawn,
        groups=groups,
        group_of=_instances_of(groups, trace, told, name, step),
        opens_ns=(starts, starts + example.wall_ns),
    )


MANY = 200
"""Above this many rows, alike ones are listed together."""


def _groups(told: Forward) -> tuple[tuple[int, ...], ...]:
    if len(told.rows) <= MANY:
        return tuple((i,) for i in range(len(told.rows)))
    alike: dict[object, list[int]] = {}
    for i, row in enumerate(told.rows):
        alike.setdefault((row.name, row.op, row.shapes), []).append(i)
    spent = {key: sum(told.rows[i].dur_ns.median for i in rows) for key, rows in alike.items()}
    return tuple(tuple(alike[key]) for key in sorted(alike, key=lambda key: -spent[key]))


def _instances_of(
    groups: tuple[tuple[int, ...], ...], trace: Trace, told: Forward, name: str, step: int | None
) -> dict[int, int]:
    """Kernels of the instances that ran just what the forward lists."""
    sequence = [row.name for row in told.rows]
    group_of_row = {row: number for number, rows in enumerate(groups) for row in rows}
    found: dict[int, int] = {}
    for one in instances(trace, name, step):
        if [kernel.name for kernel in one.work] == sequence:
            found.update((kernel, group_of_row[i]) for i, kernel in enumerate(one.work.rows.tolist()))
    return found
