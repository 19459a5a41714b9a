"""The same kernel, another time."""

from __future__ import annotations

from collections.abc import Iterator

from rung import names, units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward, WorkRow

STEPS = 3
"""Recordings of the same work from which a spread says something."""

MUCH, LEAST_NS = 0.02, 2_000
"""Share of the wall time that the differences have to add up to, and what is one at all:
some recorders write whole microseconds."""


def find(case: Case) -> Iterator[Sighting]:
    for forward in case.forwards:
        if forward.alike < STEPS:
            continue
        rows = [row for row in forward.kernel_rows if _is_steady_work(row) and _swings(row)]
        swing = sum(row.dur_ns.high - row.dur_ns.low for row in rows)
        if swing > MUCH * forward.wall_ns.median > 0:
            yield _sighting(forward, rows)


def _is_steady_work(row: WorkRow) -> bool:
    """A collective takes as long as its slowest rank, an op's width is the CPU's."""
    return row.category == "kernel" and row.kind != "collective"


def _swings(row: WorkRow) -> bool:
    return row.dur_ns.is_wide and row.dur_ns.high - row.dur_ns.low > LEAST_NS


def _sighting(forward: Forward, rows: list[WorkRow]) -> Sighting:
    most = max(rows, key=lambda row: row.dur_ns.high - row.dur_ns.low)
    time = most.dur_ns
    others = (
        f", and {len(rows) - 1} more kernels" if len(rows) > 2 else ", and one more" if len(rows) > 1 else ""
    )
    return Sighting(
        title=f"{names.short(most.decoded)} takes {units.duration(time.low)} to {units.duration(time.high)} "
        f"for the same work, median {units.duration(time.median)}{others}",
        advice="Clocks, heat or other users of the device: read median and spread, not the mean.",
        forward=forward,
        cost_ns=sum(row.dur_ns.median - row.dur_ns.low for row in rows),
        evidence={
            "kernel": most.name,
            "median_ns": time.median,
            "low_ns": time.low,
            "high_ns": time.high,
            "kernels": len(rows),
            "of": len(forward.kernel_rows),
            "steps": forward.alike,
        },
    )


RULE = Rule(
    id="kernel-jitter",
    topic="recording",
    shows="One kernel's time varies between steps, with no gap and no change.",
    means="Clocks, heat, power or the driver.",
    do="Read median and spread, not the mean.",
    find=find,
)
