"""Several streams that never work at the same time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rung import units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.looking import are_collectives, busy_ns
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward
from rung.trace import Region, Trace
from rung.trace.tables import Ints

TOLERANCE = 0.01
"""Share of the lesser stream's time that may overlap: the next kernel starts while one drains."""

WORTH = 0.01
"""Share of all work that the second-busiest stream has to do: with less, nothing is to be gained."""

SHOWN = 3


def find(case: Case) -> Iterator[Sighting]:
    if len(set(case.trace.tables.kernels.stream)) < 2:
        return
    collective = np.flatnonzero(are_collectives(case.trace))
    for forward in case.forwards:
        work = _by_stream(case.instances(forward), collective)
        for device, streams in work.items():
            spent = {stream: busy_ns(case.trace, rows) for stream, rows in streams.items()}
            busy = {stream: ns for stream, ns in spent.items() if ns}
            apart = _is_worth_it(busy) and _overlap(case.trace, streams) <= TOLERANCE * min(busy.values())
            if apart:
                yield _sighting(forward, device, busy, len(case.instances(forward)))


def _is_worth_it(busy: dict[object, int]) -> bool:
    return len(busy) > 1 and sorted(busy.values())[-2] >= WORTH * sum(busy.values())


def _by_stream(regions: Sequence[Region], without: Ints) -> dict[object, dict[object, Ints]]:
    """Kernels and copies of some regions by device and stream; collectives have a finding of their own."""
    found: dict[object, dict[object, list[int]]] = {}
    for region in regions:
        table = region.trace.tables.kernels
        rows = region.work.rows
        for row in rows[table.timed[rows] & ~np.isin(rows, without)].tolist():
            if table.category[row] in ("kernel", "copy"):
                found.setdefault(table.device[row], {}).setdefault(table.stream[row], []).append(row)
    return {
        device: {stream: np.array(rows, dtype=np.int64) for stream, rows in streams.items()}
        for device, streams in found.items()
    }


def _overlap(trace: Trace, streams: dict[object, Ints]) -> int:
    """How much longer the streams work, added up, than the device does."""
    together = busy_ns(trace, np.concatenate(list(streams.values())))
    return sum(busy_ns(trace, rows) for rows in streams.values()) - together


def _sighting(forward: Forward, device: object, busy: dict[object, int], instances: int) -> Sighting:
    each = {str(stream): ns // instances for stream, ns in sorted(busy.items(), key=lambda item: -item[1])}
    told = [f"{units.duration(ns)} on stream {stream}" for stream, ns in each.items()]
    more = [units.count(len(told) - SHOWN, "other")] if len(told) > SHOWN else []
    return Sighting(
        title=f"{len(each)} streams never work at the same time: {units.listing(told[:SHOWN] + more)}",
        advice="Nothing is gained by them here: use one, or take away the waits (events, shared inputs) that "
        "order them.",
        forward=forward,
        evidence={"device": device, "busy_ns": each},
    )


RULE = Rule(
    id="stream-serial",
    topic="launch",
    shows="Work on several streams of a device, none of it at the same time.",
    means="The streams wait for one another, or each fills the device: they bring nothing.",
    do="Use one stream, or remove the dependency that keeps them apart.",
    find=find,
)
