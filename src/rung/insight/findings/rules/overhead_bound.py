"""The GPU waits for the CPU."""

from __future__ import annotations

from collections.abc import Iterator

from rung import units
from rung.insight.bound import WAITING
from rung.insight.findings.case import Case
from rung.insight.findings.cpu_side import in_ops_ns, launch_spacing_ns
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward
from rung.insight.spread import spread


def find(case: Case) -> Iterator[Sighting]:
    for forward, bound in zip(case.forwards, case.bounds, strict=True):
        if bound.limit == "overhead-bound":
            others = case.activity.busy_for_others_ns(forward.example)
            if forward.gpu_busy_ns.median + others < (1 - WAITING) * forward.wall_ns.median:
                yield _sighting(case, forward, others)


def _sighting(case: Case, forward: Forward, others: int) -> Sighting:
    busy, wall = forward.gpu_busy_ns.median, forward.wall_ns.median
    idle, spacing = wall - busy - others, launch_spacing_ns(forward.example)
    kernel = spread(row.dur_ns.median for row in forward.rows).median if forward.rows else None
    longest = int(case.activity.gaps(forward.example).max(initial=0))
    return Sighting(
        title=f"the GPU idles {units.percent(idle / wall)} of the time, {units.duration(idle)} of "
        f"{units.duration(wall)}: {_launches(forward, spacing, kernel)}{_where(forward, idle, longest)}",
        advice=_advice(forward, idle, longest),
        forward=forward,
        cost_ns=idle,
        evidence={
            "gpu_idle_share": forward.gpu_idle_share,
            "gpu_busy_ns": busy,
            "busy_for_others_ns": others,
            "wall_ns": wall,
            "launches": forward.launches,
            "launch_spacing_ns": spacing,
            "kernel_ns": kernel,
            "cpu_in_ops_ns": in_ops_ns(forward.example),
            "speed_up": wall / busy,
        },
    )


def _launches(forward: Forward, spacing: int | None, kernel: int | None) -> str:
    rhythm = f", {units.duration(spacing)} apart" if spacing is not None else ""
    which = "its kernel" if len(forward.rows) == 1 else "the median kernel"
    took = f", and {which} takes {units.duration(kernel)}" if kernel is not None else ""
    return f"{units.count(forward.launches, 'launch')}{rhythm}{took}"


OUTSIDE, MOST = 0.25, 0.5
"""Share of the time in ops below which it is not launching that keeps the CPU busy; share of the idle time
from which one gap is where to look."""


def _is_elsewhere(forward: Forward) -> bool:
    return in_ops_ns(forward.example) < OUTSIDE * forward.example.wall_ns


def _where(forward: Forward, idle: int, longest: int) -> str:
    if longest >= MOST * idle:
        return f"; {units.duration(longest)} of it is one gap"
    in_ops = units.duration(in_ops_ns(forward.example))
    return f"; the CPU is in ops for {in_ops} only" if _is_elsewhere(forward) else ""


def _advice(forward: Forward, idle: int, longest: int) -> str:
    if longest >= MOST * idle:
        return "Look at what the CPU does in that one gap (gpu-gap says what is seen of it)."
    if _is_elsewhere(forward):
        return (
            "Look at what Python does outside of ops (loading data, compiling, waiting): record with stacks."
        )
    busy, wall = forward.gpu_busy_ns.median, forward.wall_ns.median
    return (
        "Launch less, or do more with each launch: a CUDA graph, fused kernels, a bigger batch. Its GPU work "
        f"alone takes {units.duration(busy)}, {wall / busy:.1f}x less."
    )


RULE = Rule(
    id="overhead-bound",
    topic="limit",
    shows="The GPU works a small part of the region's wall time, and launches follow one another on the CPU.",
    means="The CPU launches more slowly than the GPU runs.",
    do="Make the work bigger, fuse ops, or capture them in a CUDA graph.",
    find=find,
)
