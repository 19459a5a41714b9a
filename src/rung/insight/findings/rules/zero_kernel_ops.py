"""Ops that launch nothing."""

from __future__ import annotations

from collections.abc import Iterator

from rung import units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.forward import VIEWS, Forward


def find(case: Case) -> Iterator[Sighting]:
    for forward in case.forwards:
        ops = forward.launchless_ops
        if ops:
            yield _sighting(forward, ops.total(), units.listing([n.removeprefix("aten::") for n in ops]))


def _sighting(forward: Forward, count: int, kinds: str) -> Sighting:
    spent = _spent_ns(forward)
    verb = "op launches nothing, it only rewrites" if count == 1 else "ops launch nothing, they only rewrite"
    return Sighting(
        title=f"{count} {verb} shape and stride: {kinds} ({units.duration(spent)} of CPU time)",
        advice="Nothing to do on the GPU; a compiled call does not dispatch them.",
        forward=forward,
        evidence={"ops": dict(forward.launchless_ops), "cpu_ns": spent},
    )


def _spent_ns(forward: Forward) -> int:
    """CPU time of the outermost views; one inside another's time is part of it."""
    ops = forward.example.trace.tables.ops
    rows = forward.example.trace.tables.regions.ops.of(forward.example.row).tolist()
    views = {row for row in rows if ops.name[row] in VIEWS}
    return sum(int(ops.dur_ns[row]) for row in views if int(ops.parent[row]) not in views)


RULE = Rule(
    id="zero-kernel-ops",
    topic="launch",
    shows="`aten::t`, `transpose`, `view`, `reshape`, `as_strided`, `_unsafe_view`, ... with no launch",
    means="They only rewrite shape and stride.",
    do="Nothing on the GPU; the CPU cost is what a compiled call saves.",
    find=find,
)
