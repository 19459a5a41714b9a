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

    `row_of` tells which of the forward's rows a kernel (by its row in its table) is an instance of;
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
    row_of: dict[int, int]
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
    return Exhibit(
        label=label,
        trace=trace,
        why=why(trace, region=region, step=step),
        forward=told,
        roofline=roofline(told, ceiling_of(trace)),
        breakdown=breakdown(told),
        tree=tree(example),
        timeline=drawn,
        row_of=_rows(trace, told, name, step),
        opens_ns=(starts, starts + example.wall_ns),
    )


def _rows(trace: Trace, told: Forward, name: str, step: int | None) -> dict[int, int]:
    """Kernels of the instances that ran just what the forward lists."""
    sequence = [row.name for row in told.rows]
    found: dict[int, int] = {}
    for one in instances(trace, name, step):
        if [kernel.name for kernel in one.work] == sequence:
            found.update(zip(one.work.rows.tolist(), range(len(sequence)), strict=True))
    return found
