"""One op dominates."""

from __future__ import annotations

from collections.abc import Iterator

from rung import names, units
from rung.insight.bound import Limit
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward, WorkRow

WORTH, DOMINANT = 0.05, 0.5
"""Share of the wall time, and of the time on the device, from which one op is the place to start."""


def find(case: Case) -> Iterator[Sighting]:
    for forward, bound in zip(case.forwards, case.bounds, strict=True):
        groups: dict[str, list[WorkRow]] = {}
        for row in forward.rows:
            if row.category != "memset":
                groups.setdefault(_doer(row), []).append(row)
        total = sum(row.dur_ns.median for row in forward.rows)
        if len(groups) > 1:
            what, rows = max(groups.items(), key=lambda group: _spent(group[1]))
            if _spent(rows) >= max(DOMINANT * total, WORTH * forward.wall_ns.median, 1):
                yield _sighting(forward, what, rows, total, bound.limit)


def _sighting(forward: Forward, what: str, rows: list[WorkRow], total: int, limit: Limit) -> Sighting:
    spent, longest = _spent(rows), max(rows, key=lambda row: row.dur_ns.median)
    name = longest.name if longest.category == "op" else names.short(longest.decoded)
    subject = name if what == longest.name else what
    many = f", {len(rows)} times" if len(rows) > 1 else ""
    at_most = f", {units.duration(longest.dur_ns.median)} at most: {name}" if len(rows) > 1 else f": {name}"
    where = "ops'" if longest.category == "op" else "GPU's"
    return Sighting(
        title=f"{subject} takes {units.percent(spent / total)} of the {where} time, "
        f"{units.duration(spent)} of {units.duration(total)}{many}{'' if name == subject else at_most}",
        advice=_advice(longest, limit),
        forward=forward,
        cost_ns=spent,
        evidence={
            "op": longest.op,
            "kernels": sorted({row.name for row in rows}),
            "times": len(rows),
            "spent_ns": spent,
            "total_ns": total,
            "longest_ns": longest.dur_ns.median,
        },
    )


def _advice(longest: WorkRow, limit: Limit) -> str:
    if longest.kind == "collective":
        return "A collective lasts until the slowest rank arrives: look at all ranks before making it faster."
    if limit == "overhead-bound":
        return "Launches come first here; of what the GPU does, this is the larger part."
    return "Start here: all the rest together is the smaller part."


def _spent(rows: list[WorkRow]) -> int:
    return sum(row.dur_ns.median for row in rows)


def _doer(row: WorkRow) -> str:
    """The op; the kernel, where that around it is no operator: a compiled region, a replayed graph."""
    return row.op if row.op is not None and row.op.startswith("aten::") else row.name


RULE = Rule(
    id="hotspot",
    topic="kernels",
    shows="One op takes most of the time on the device.",
    means="Whatever is done elsewhere, this decides.",
    do="Start there.",
    find=find,
)
