"""Collectives that no compute covers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rung import units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.looking import alone, are_collectives, of_category
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward


def find(case: Case) -> Iterator[Sighting]:
    collective = are_collectives(case.trace)
    if not collective.any():
        return
    computing = of_category(case.trace, "kernel") & ~collective
    for forward in case.forwards:
        total, exposed = alone(case.instances(forward), collective, computing)
        if exposed.median:
            yield _sighting(forward, case.trace.rank, total.median, exposed.median)


def _sighting(forward: Forward, rank: int | None, total: int, exposed: int) -> Sighting:
    rows = [row for row in forward.rows if row.kind == "collective"]
    kinds = Counter(str(row.decoded.fields.get("collective", "collective")) for row in rows)
    names = units.listing([f"{n} {kind}" for kind, n in kinds.most_common()]) or "collectives"
    where = f" on rank {rank}" if rank is not None else ""
    verb = "takes" if kinds.total() == 1 else "take"
    return Sighting(
        title=f"{names}{where} {verb} {units.duration(total)}; for {units.percent(exposed / total)} of it, "
        f"{units.duration(exposed)}, nothing computes",
        advice="Overlap them with compute (DDP buckets, FSDP prefetch, async_op=True) or send less; a "
        "collective also lasts while it waits for the last rank: compare two ranks with rung why.",
        forward=forward,
        cost_ns=exposed,
        evidence={
            "rank": rank,
            "collectives": dict(kinds),
            "collective_ns": total,
            "exposed_ns": exposed,
            "exposed_share": round(exposed / total, 4),
        },
    )


RULE = Rule(
    id="comm-exposed",
    topic="ranks",
    shows="Collectives (NCCL, RCCL) that run while no kernel computes.",
    means="Communication, or waiting for another rank, is the limit there.",
    do="Overlap with compute, send less, or find the rank that comes late (`straggler`).",
    find=find,
)
