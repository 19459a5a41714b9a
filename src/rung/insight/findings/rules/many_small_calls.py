"""One op called very often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from rung import units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward
from rung.insight.spread import spread
from rung.names import is_metadata_op
from rung.trace.tables import Ints

OFTEN = 20
SHORT_NS = 100_000
MUCH = 0.05
"""Share of the wall time that the calls of one op have to take."""


def find(case: Case) -> Iterator[Sighting]:
    for forward in case.forwards:
        found = [_sighting(forward, name, rows) for name, rows in _calls(forward, _frequent(forward)).items()]
        sightings = [one for one in found if one is not None]
        if sightings:
            yield max(sightings, key=lambda one: one.cost_ns)


def _frequent(forward: Forward) -> list[str]:
    """Ops that put work on the device, or stand in for it, this often."""
    times = Counter(row.op for row in forward.rows if row.op is not None and not row.graph)
    return [name for name, count in times.items() if count >= OFTEN and not is_metadata_op(name)]


def _calls(forward: Forward, wanted: list[str]) -> dict[str, Ints]:
    """The rows of these ops; of one inside its like the outer one alone."""
    ops = forward.example.trace.tables.ops
    found: dict[str, list[int]] = {name: [] for name in wanted}
    for row in forward.example.trace.tables.regions.ops.of(forward.example.row).tolist() if wanted else ():
        if (name := ops.name[row]) in found:
            found[name].append(row)
    calls = {name: np.array(rows, dtype=np.int64) for name, rows in found.items()}
    return {name: rows[~np.isin(ops.parent[rows], rows)] for name, rows in calls.items()}


def _sighting(forward: Forward, name: str, rows: Ints) -> Sighting | None:
    if len(rows) < OFTEN:
        return None
    dur = forward.example.trace.tables.ops.dur_ns[rows]
    cpu, each = int(dur.sum()), spread(dur.tolist()).median
    device = sum(row.dur_ns.median for row in forward.rows if row.op == name and row.category != "op")
    idle = max(forward.wall_ns.median - forward.gpu_busy_ns.median, 0)
    cost = min(max(cpu - device, 0), idle)
    if each > SHORT_NS or cost < MUCH * forward.wall_ns.median:
        return None
    on_gpu = f", for {units.duration(device / len(rows))} on the GPU" if device else ""
    return Sighting(
        title=f"{name} is called {len(rows)} times, {units.duration(each)} of CPU time each{on_gpu}: "
        f"{units.duration(cpu)} in all",
        advice="Batch the calls into one, or fuse them: torch.compile, the foreach variants, a CUDA graph.",
        forward=forward,
        cost_ns=cost,
        evidence={"op": name, "calls": len(rows), "each_ns": each, "cpu_ns": cpu, "gpu_ns": device},
    )


RULE = Rule(
    id="many-small-calls",
    topic="launch",
    shows="One op is called very often, each call is short.",
    means="The price of a call rules, not its work.",
    do="Batch or fuse.",
    find=find,
)
