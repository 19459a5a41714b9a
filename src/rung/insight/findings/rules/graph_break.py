"""A compiled call that falls apart into several compiled regions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rung import units
from rung.insight.findings.case import Case
from rung.insight.findings.compiled import CompiledCall, calls_in, op_words
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward
from rung.insight.spread import spread
from rung.trace import Region, Trace
from rung.trace.regions import WHOLE_TRACE
from rung.trace.tables import Ints

SHOWN = 3


@dataclass(frozen=True, slots=True)
class Break:
    """The way from one compiled region to the next: the ops at work before and after, its CPU time in ns."""

    after: str | None
    before: str | None
    ns: int
    nested: bool


def find(case: Case) -> Iterator[Sighting]:
    for forward in case.forwards:
        breaks = breaks_in(forward.example)
        if breaks:
            yield _sighting(forward, case.instances(forward), breaks)


def breaks_in(region: Region) -> list[Break]:
    """The interruptions of compiled code in one instance of a region, in order.

    A frame that goes on after a break runs inside the first; one beside it with another number may also be
    something else that was compiled, and says nothing where the region is the whole trace.
    """
    calls = calls_in(region)
    leaves = _leaves(region) if len(calls) > 1 else np.zeros(0, dtype=np.int64)
    found: list[Break] = []
    last: dict[int, CompiledCall] = {}
    for call in calls:
        before = last.get(call.outer)
        beside = before is not None and before.frame != call.frame and region.name != WHOLE_TRACE
        if call.outer >= 0 or beside:
            found.append(_between(region.trace, leaves, call))
        last[call.outer] = call
    return found


def _leaves(region: Region) -> Ints:
    """The innermost ops that put work on the device, by start."""
    rows = region.trace.tables.regions.ops.of(region.row)
    rows = rows[region.trace.working_ops[rows]]
    return rows[~np.isin(rows, region.trace.tables.ops.parent[rows])]


def _between(trace: Trace, leaves: Ints, call: CompiledCall) -> Break:
    """From the last op at work before a compiled region to the first inside it, on its thread."""
    ops = trace.tables.ops
    start = int(ops.start_ns[call.row])
    at = int(np.searchsorted(ops.start_ns[leaves], start))
    mine = (row for row in leaves[at:].tolist() if ops.thread[row] == ops.thread[call.row])
    inside = next((row for row in mine if ops.start_ns[row] < start + ops.dur_ns[call.row]), None)
    earlier = (row for row in leaves[:at][::-1].tolist() if ops.thread[row] == ops.thread[call.row])
    before = next(earlier, None)
    left = int(ops.start_ns[before] + ops.dur_ns[before]) if before is not None else start
    entered = int(ops.start_ns[inside]) if inside is not None else start
    return Break(
        after=ops.name[before] if before is not None else None,
        before=ops.name[inside] if inside is not None else None,
        ns=max(entered - left, 0),
        nested=call.outer >= 0,
    )


def sentence(region: Region) -> str:
    """Where one instance of a region is interrupted: `after view + gelu, before aten::mm`."""
    said = _said(breaks_in(region))
    more = f" and {len(said) - SHOWN} more" if len(said) > SHOWN else ""
    return f"{units.listing(said[:SHOWN])}{more}" or "where nothing was launched"


def _sighting(forward: Forward, instances: Sequence[Region], breaks: Sequence[Break]) -> Sighting:
    regions = [str(call) for call in calls_in(forward.example)]
    cost = spread(sum(one.ns for one in breaks_in(region)) for region in instances).median
    doubt = "" if all(one.nested for one in breaks) else ", unless they were compiled apart"
    distinct = list(dict.fromkeys(regions))
    kinds = f"{units.count(len(distinct), 'compiled region')} ({', '.join(distinct)})"
    times = units.count(len(breaks), "graph break")
    return Sighting(
        title=f"{times} a call, {kinds}{doubt}: {sentence(forward.example)}; "
        f"the CPU needs {units.duration(cost)} to get from one to the next",
        advice="See why with TORCH_LOGS=graph_breaks, and take the cause (a print, .item(), a branch on "
        "data) out of the compiled function; fullgraph=True makes a break an error.",
        forward=forward,
        cost_ns=cost,
        evidence=_evidence(forward, regions, breaks),
    )


def _said(breaks: Sequence[Break]) -> list[str]:
    places = []
    for one in breaks:
        after = f"after {op_words(one.after)}" if one.after else ""
        before = f"before {op_words(one.before)}" if one.before else ""
        places.append(", ".join(filter(None, (after, before))))
    return list(dict.fromkeys(filter(None, places)))


def _evidence(forward: Forward, regions: Sequence[str], breaks: Sequence[Break]) -> dict[str, Any]:
    return {
        "breaks": len(breaks),
        "regions": list(dict.fromkeys(regions)),
        "where": [{"after": one.after, "before": one.before, "cpu_ns": one.ns} for one in breaks],
        "pre_ops_ns": dict(forward.pre_ops_ns),
    }


RULE = Rule(
    id="graph-break",
    topic="compiler",
    shows="`Torch-Compiled Region: K/M` with several K in one call, a later one often inside the first.",
    means="The compiler could not go on and started a new graph: nothing is fused across the break, and each "
    "graph pays for its look-up, guards and prologue.",
    do="Find the line with `TORCH_LOGS=graph_breaks` and take what cannot be traced out of the function.",
    find=find,
    explains=True,
)
