"""The CPU waits for the GPU inside a step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rung import units
from rung.insight.findings.calls import WAITS, at_edges, named
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.looking import of_name
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward
from rung.insight.spread import spread
from rung.trace import Region, Trace
from rung.trace.intervals import union_ns
from rung.trace.tables import Ints, index_of

WORTH = 0.01
"""Share of the wall time that the waits have to take."""


@dataclass(frozen=True, slots=True)
class _Waits:
    """All waits of a trace: when, in which op, by which call. `of_call` and `of_launch` say where a row of
    `tables.calls` or `tables.launches` stands here; -1 for what does not wait."""

    start: Ints
    end: Ints
    op: Ints
    name: list[str]
    of_call: Ints
    of_launch: Ints

    def inside(self, region: Region) -> Ints:
        held = region.trace.tables.regions
        here = (self.of_call[held.calls.of(region.row)], self.of_launch[held.launches.of(region.row)])
        found = np.concatenate(here)
        return found[found >= 0]


@dataclass(frozen=True, slots=True)
class _Waiting:
    """The waits of one instance: which, how long, and how long the GPU then idled until its next work."""

    rows: Ints
    wait_ns: int
    idle_ns: int


def find(case: Case) -> Iterator[Sighting]:
    waits = _waits(case.trace)
    for forward in case.forwards if waits.name else ():
        found = [_waiting(case, waits, waits.inside(one)) for one in case.alike(forward)]
        times = spread(len(one.rows) for one in found).median
        wait = spread(one.wait_ns for one in found).median
        if times and wait >= WORTH * forward.wall_ns.median:
            yield _sighting(case.trace, forward, waits, found, times)


def _waits(trace: Trace) -> _Waits:
    calls, launches = trace.tables.calls, trace.tables.launches
    waiting = np.flatnonzero(named(trace, WAITS) & ~at_edges(trace))
    blocking = _blocking(trace)
    start = np.concatenate([calls.start_ns[waiting], launches.start_ns[blocking]])
    return _Waits(
        start=start,
        end=start + np.concatenate([calls.dur_ns[waiting], launches.dur_ns[blocking]]),
        op=np.concatenate([calls.op[waiting], launches.op[blocking]]),
        name=[calls.name[i] for i in waiting.tolist()] + [launches.name[i] for i in blocking.tolist()],
        of_call=index_of(waiting, len(calls.name)),
        of_launch=_behind(index_of(blocking, len(launches.name)), len(waiting)),
    )


def _behind(index: Ints, first: int) -> Ints:
    return np.where(index >= 0, index + first, -1)


def _blocking(trace: Trace) -> Ints:
    """Calls that copy to the host and return only when the copy is done: of pageable memory, mostly."""
    kernels, launches = trace.tables.kernels, trace.tables.launches
    copies = np.flatnonzero(of_name(trace, "copy", lambda name: name.fields.get("direction") == "DtoH"))
    copies = copies[kernels.launch[copies] >= 0]
    call = kernels.launch[copies]
    returned, done = (launches.start_ns + launches.dur_ns)[call], (kernels.start_ns + kernels.dur_ns)[copies]
    return np.unique(call[launches.timed[call] & (returned >= done)])


def _waiting(case: Case, waits: _Waits, rows: Ints) -> _Waiting:
    wait = union_ns(waits.start[rows], waits.end[rows])
    return _Waiting(rows, wait, _idle_behind(case, waits.end[rows]))


def _idle_behind(case: Case, ends: Ints) -> int:
    """How long the GPU has nothing to do from the end of each wait to its next work."""
    after = np.unique(np.searchsorted(case.activity.start, ends))
    return int(case.activity.idle_before(after[after < len(case.activity.start)]).sum())


def _sighting(trace: Trace, forward: Forward, waits: _Waits, found: list[_Waiting], times: int) -> Sighting:
    wait, idle = (
        spread(values).median for values in zip(*((o.wait_ns, o.idle_ns) for o in found), strict=True)
    )
    typical = next(one for one in found if len(one.rows) == times)
    by = _by(trace, waits, typical.rows)
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


def _by(trace: Trace, waits: _Waits, rows: Ints) -> dict[str, int]:
    """How often each kind of wait occurs, the longest first: the call, and the outermost op around it."""
    ops, often, long = trace.tables.ops, Counter[str](), Counter[str]()
    for row in rows.tolist():
        op = int(waits.op[row])
        while op >= 0 and ops.parent[op] >= 0:
            op = int(ops.parent[op])
        what = f"{waits.name[row]} of {ops.name[op]}" if op >= 0 else waits.name[row]
        often[what] += 1
        long[what] += int(waits.end[row] - waits.start[row])
    return {what: often[what] for what, _ in long.most_common()}


RULE = Rule(
    id="forced-sync",
    topic="launch",
    shows="`cudaStreamSynchronize` or its like inside a step: `.item()`, `aten::nonzero`, a pageable copy.",
    means="The CPU waits for the GPU, and afterwards the GPU waits for the CPU.",
    do="Move it out of the step.",
    find=find,
)
