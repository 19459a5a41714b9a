"""A rank that the others wait for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rung import units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.looking import are_collectives, busy_ns, of_category
from rung.insight.findings.meetings import Meetings, meetings
from rung.insight.findings.rule import Rule
from rung.insight.spread import Spread, spread
from rung.trace import Trace
from rung.trace.tables import Ints

ALWAYS = 0.8
"""Share of the collectives that a rank has to come last to: less is taking turns."""


def find(case: Case) -> Iterator[Sighting]:
    traces = (case.trace, *case.peers)
    met = meetings(traces) if len(traces) > 1 else None
    if met is None:
        return
    last = met.start_ns.argmax(axis=0)
    late = int(np.bincount(last).argmax())
    others = np.delete(met.start_ns, late, axis=0)
    behind = met.start_ns[late] - np.sort(others, axis=0)[(len(others) - 1) // 2]
    median = spread(behind.tolist()).median
    if (last == late).mean() >= ALWAYS and median > met.doubt_ns:
        yield _sighting(case, traces, met, late, behind)


def _sighting(case: Case, traces: tuple[Trace, ...], met: Meetings, late: int, behind: Ints) -> Sighting:
    ranks = [trace.rank if trace.rank is not None else at for at, trace in enumerate(traces)]
    times, much = int((behind > 0).sum()), spread(behind.tolist())
    computing = [_computing_ns(trace) for trace in traces]
    latency = _launch_to_start(traces[late], met.kernels[late])
    on_cpu = latency < much.median / 2
    whose = "its CPU launches them late" if on_cpu else "its GPU is still busy when they are launched"
    told = [f"{units.duration(ns)} on rank {rank}" for rank, ns in zip(ranks, computing, strict=True)]
    forward = case.forwards[0] if case.forwards else None
    waited = int(np.maximum(behind, 0).sum()) // (forward.instances if forward else 1)
    steps = len(case.trace.steps)
    return Sighting(
        title=f"rank {ranks[late]} comes last to {times} of {len(behind)} collectives, "
        f"{units.duration(much.median)} after the rest ({_range(much)}), "
        f"{units.duration(waited)} a {'step' if steps else 'call'}: {whose}; "
        f"kernels compute {units.listing(told)}{' a step' if steps else ''}; {_aligned(met)}",
        advice=_advice(ranks[late], on_cpu),
        forward=forward,
        cost_ns=waited,
        evidence={
            "rank": ranks[late],
            "last": times,
            "collectives": len(behind),
            "late_ns": behind.tolist(),
            "launch_to_start_ns": latency,
            "computing_ns": dict(zip(map(str, ranks), computing, strict=True)),
            "clock_shift_ns": dict(zip(map(str, ranks), met.shift_ns, strict=True)),
            "clock_doubt_ns": met.doubt_ns,
        },
    )


def _range(late: Spread) -> str:
    return f"{units.duration(late.low)} to {units.duration(late.high)}"


def _aligned(met: Meetings) -> str:
    return f"clocks aligned by the ends of the collectives, to {units.duration(met.doubt_ns)}"


def _computing_ns(trace: Trace) -> int:
    """How long a rank's kernels other than collectives run, a step (or in all, without steps)."""
    rows = np.flatnonzero(of_category(trace, "kernel") & ~are_collectives(trace))
    return busy_ns(trace, rows) // max(len(trace.steps), 1)


def _launch_to_start(trace: Trace, kernels: Ints) -> int:
    """Median ns from a collective's launch to its start: short where the GPU was waiting for it."""
    tables = trace.tables
    launch = tables.kernels.launch[kernels]
    return spread((tables.kernels.start_ns[kernels] - tables.launches.start_ns[launch]).tolist()).median


def _advice(rank: int, on_cpu: bool) -> str:
    if on_cpu:
        return (
            f"See what rank {rank}'s CPU does before its collectives (host load, Python, data loading): "
            "fewer or larger launches, a CUDA graph, or cores of its own."
        )
    return (
        f"Give rank {rank} as much work as the others: equal batches, equal sequence lengths, equal experts."
    )


RULE = Rule(
    id="straggler",
    topic="ranks",
    shows="One rank that starts each collective late (two ranks' traces: `rung why RANK0 RANK1`).",
    means="The ranks are not in balance; all wait for the last one.",
    do="Balance the work, or find what holds that rank's CPU or GPU before its collectives.",
    find=find,
)
