"""The first call sets things up."""

from __future__ import annotations

from collections.abc import Iterator

from rung import units
from rung.insight.findings.calls import ALLOCATES, LOADS, calls, spent_ns
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward, is_drawn
from rung.insight.spread import spread
from rung.trace import Region
from rung.trace.intervals import union_ns

ALONE = 0.1
"""Share that setting up has to take of a call that has no later one to be compared with."""

COLD = 5
"""How many times as wide as a later call the first one has to be: the profiler by itself makes it up to 3.3
times as wide in warm recordings of small work on an H200, setting up 539 times or more."""


def find(case: Case) -> Iterator[Sighting]:
    for forward in () if is_drawn(case.trace) else case.forwards:  # no width of a drawn call was measured
        first, *rest = case.instances(forward)
        later = [one.cpu_ns for one in rest if len(one.work) or not len(first.work)]
        spent = set_up(first)
        if not rest and sum(spent.values()) >= ALONE * first.wall_ns > 0:
            yield _alone(forward, first, spent)
        elif later and first.cpu_ns >= COLD * max(spread(later).median, 1):
            spent |= _late_launch(first) if not spent["compiling"] else {}
            if any(spent.values()):
                yield _sighting(forward, first, later, spent)


def set_up(region: Region) -> dict[str, int]:
    """What a first call spends on setting up, in ns."""
    trace = region.trace
    return {
        "compiling": _compiling_ns(region),
        "loading modules": spent_ns(trace, calls(region, LOADS)),
        "allocating": spent_ns(trace, calls(region, ALLOCATES)),
    }


def _late_launch(region: Region) -> dict[str, int]:
    """A long time before the first launch: libraries choose among kernels without a call to show for it."""
    wait = min((one.start_ns for one in region.launches), default=region.start_ns) - region.start_ns
    return {"before the first launch": wait if wait > region.cpu_ns // 4 else 0}


def _compiling_ns(region: Region) -> int:
    """Dynamo and Inductor time their own phases as ops."""
    ops = region.trace.tables.ops
    rows = region.trace.tables.regions.ops.of(region.row)
    timed = rows[[ops.name[row].endswith("(dynamo_timed)") for row in rows.tolist()]]
    return union_ns(ops.start_ns[timed], ops.start_ns[timed] + ops.dur_ns[timed])


def _alone(forward: Forward, only: Region, spent: dict[str, int]) -> Sighting:
    return Sighting(
        title=f"the only {forward.region} takes {units.duration(only.cpu_ns)} and sets things up: "
        f"{_parts(spent)}",
        advice="Call it a few times before recording, and record more than one call.",
        cost_ns=sum(spent.values()),
        evidence={"first_ns": only.cpu_ns, "later_ns": [], **_evidence(spent)},
        instance=only,
    )


def _sighting(forward: Forward, first: Region, later: list[int], spent: dict[str, int]) -> Sighting:
    usual = spread(later).median
    return Sighting(
        title=f"the first {forward.region} takes {units.duration(first.cpu_ns)}, a later one "
        f"{units.duration(usual)}: {_parts(spent)}",
        advice="Call it a few times before recording; the counts of later calls are not touched by this.",
        cost_ns=first.cpu_ns - usual,
        evidence={
            "first_ns": first.cpu_ns,
            "later_ns": later[:8],
            **_evidence(spent),
        },
        instance=first,
    )


def _parts(spent: dict[str, int]) -> str:
    return units.listing([f"{units.duration(ns)} {what}" for what, ns in spent.items() if ns])


def _evidence(spent: dict[str, int]) -> dict[str, int]:
    return {f"{what.replace(' ', '_')}_ns": ns for what, ns in spent.items()}


RULE = Rule(
    id="cold-start",
    topic="recording",
    shows="The first call is many times as wide as the rest, and loads modules, allocates or compiles.",
    means="Workspaces, lazily loaded kernels, library heuristics and compilers are paid for once.",
    do="Warm up before recording.",
    find=find,
    explains=True,
)
