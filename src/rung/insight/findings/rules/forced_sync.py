"""The CPU waits for the GPU inside a step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rung import units
from rung.insight.findings.activity import WAITS, at_edges, named, spent_ns
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward
from rung.insight.spread import spread
from rung.trace import Region, Trace
from rung.trace.tables import Bools, Ints

WORTH = 0.01
"""Share of the wall time that the waits have to take."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """The waits of one instance: how many, how long, and how long the GPU then idled until its next work."""

    calls: Ints
    wait_ns: int
    idle_ns: int


def find(case: Case) -> Iterator[Sighting]:
    waits = named(case.trace, WAITS) & ~at_edges(case.trace)
    for forward in case.forwards if waits.any() else ():
        found = [_waiting(case, one, waits) for one in case.alike(forward)]
        times = spread(len(one.calls) for one in found).median
        wait = spread(one.wait_ns for one in found).median
        if times and wait >= WORTH * forward.wall_ns.median:
            yield _sighting(case.trace, forward, found, times)


def _waiting(case: Case, region: Region, waits: Bools) -> _Waiting:
    rows = case.trace.tables.regions.calls.of(region.row)
    rows = rows[waits[rows]]
    return _Waiting(rows, spent_ns(case.trace, rows), _idle_behind(case, rows))


def _idle_behind(case: Case, rows: Ints) -> int:
    """How long the GPU has nothing to do from the end of each wait to its next work."""
    table, start = case.trace.tables.calls, case.activity.start
    after = np.unique(np.searchsorted(start, (table.start_ns + table.dur_ns)[rows]))
    return int(case.activity.idle_before(after[after < len(start)]).sum())


def _sighting(trace: Trace, forward: Forward, found: list[_Waiting], times: int) -> Sighting:
    wait, idle = (
        spread(values).median for values in zip(*((o.wait_ns, o.idle_ns) for o in found), strict=True)
    )
    typical = next(one for one in found if len(one.calls) == times)
    by = _by(trace, typical.calls)
    first = next(iter(by))
    behind = f"; the GPU then idles {units.duration(idle)} until its next work" if idle else ""
    return Sighting(
        title=f"the CPU waits for the GPU {units.count(times, 'time')} a step, "
        f"{units.duration(wait)} in all, mostly in {first}{behind}",
        advice="Move what needs the number (.item(), printing, a copy to the host, a shape that depends on "
        "data) out of the step, or copy pinned and non_blocking.",
        forward=forward,
        cost_ns=idle,
        evidence={"waits": times, "wait_ns": wait, "gpu_idle_behind_ns": idle, "by": by},
    )


def _by(trace: Trace, rows: Ints) -> dict[str, int]:
    """How often each kind of wait occurs: the call, and the outermost op around it."""
    table, ops = trace.tables.calls, trace.tables.ops
    tally: Counter[str] = Counter()
    for row in rows.tolist():
        op = int(table.op[row])
        while op >= 0 and ops.parent[op] >= 0:
            op = int(ops.parent[op])
        tally[f"{table.name[row]} of {ops.name[op]}" if op >= 0 else table.name[row]] += 1
    return dict(tally.most_common())


RULE = Rule(
    id="forced-sync",
    topic="launch",
    shows="`cudaStreamSynchronize` or its like inside a step: `.item()`, `aten::nonzero`, a pageable copy.",
    means="The CPU waits for the GPU, and afterwards the GPU waits for the CPU.",
    do="Move it out of the step.",
    find=find,
)
