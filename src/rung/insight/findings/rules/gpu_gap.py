"""The GPU idles between two kernels of a step."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rung import names, units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward
from rung.trace import Kernel, Region
from rung.trace.tables import Ints

LARGE = 0.05
"""Share of the wall time from which gaps are worth a finding."""

OUTSTANDING = 5
"""Where the CPU is late everywhere, as `overhead-bound` says, a gap has to be large by itself and so many
times as long as the median one."""


def find(case: Case) -> Iterator[Sighting]:
    for forward, bound in zip(case.forwards, case.bounds, strict=True):
        if bound.limit == "no-gpu":
            continue
        found = [(one, case.activity.gaps(one)) for one in case.alike(forward)]
        if bound.limit == "overhead-bound":
            found = [(one, _outstanding(idle, forward.wall_ns.median)) for one, idle in found]
        found.sort(key=lambda pair: int(pair[1].sum()))
        region, idle = found[(len(found) - 1) // 2]
        if idle.sum() >= LARGE * forward.wall_ns.median > 0:
            yield _sighting(case, forward, region, idle)


def _outstanding(idle: Ints, wall: int) -> Ints:
    usual = np.median(idle[idle > 0]) if (idle > 0).any() else 0
    return np.where(idle >= max(OUTSTANDING * usual, LARGE * wall), idle, 0)


def _sighting(case: Case, forward: Forward, region: Region, idle: Ints) -> Sighting:
    """`idle` are the gaps before each piece of work of a region, as far as they count here."""
    total, count, at = int(idle.sum()), int((idle > 0).sum()), int(idle.argmax())
    longest, kernel = int(idle[at]), region.work[at]
    cause, spent = _cause(case, kernel, longest)
    before = kernel.op.name if kernel.op else names.short(kernel.decoded)
    most = f", {units.duration(longest)} of it before {before}" if count > 1 else f", before {before}"
    return Sighting(
        title=f"the GPU idles {units.duration(total)} between kernels{most}: {cause}",
        advice=_advice(cause),
        forward=forward,
        cost_ns=total,
        evidence={
            "gaps": count,
            "idle_ns": total,
            "longest_ns": longest,
            "before": kernel.name,
            "meanwhile": cause,
            "meanwhile_ns": spent,
        },
    )


WAITED = "its launch was there already, it waited for other work"
UNSEEN = "the trace does not show the CPU"
NOTHING = "the CPU was mostly outside any op meanwhile"


def _cause(case: Case, kernel: Kernel, gap: int) -> tuple[str, int | None]:
    """What held a kernel up for so long, and how long the CPU spent on that."""
    began = kernel.start_ns - gap
    launch = kernel.launch
    if launch is not None and launch.start_ns + launch.dur_ns <= began:
        return WAITED, None
    if not len(kernel.trace.ops):
        return UNSEEN, None
    found = case.meanwhile(began, kernel.start_ns)
    if found is None:
        return NOTHING, None
    return f"the CPU was in {found[0]} for {units.duration(found[1])} of it", found[1]


def _advice(cause: str) -> str:
    if cause == WAITED:
        return "See what it waits for: an event of another stream, or a copy."
    if cause == UNSEEN:
        return "Record the CPU's side too: activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]."
    if "Malloc" in cause or "Free" in cause:
        return "Keep the allocator from asking the driver: reuse buffers, warm up, expandable_segments."
    if "ynchronize" in cause:
        return "Take the wait out of the step."
    return "Let the CPU run ahead: fewer ops between the two, a CUDA graph, or that work in another thread."


RULE = Rule(
    id="gpu-gap",
    topic="launch",
    shows="The GPU idles between two kernels of a step.",
    means="The CPU is late, waits or allocates.",
    do="Look at what the CPU does meanwhile.",
    find=find,
)
