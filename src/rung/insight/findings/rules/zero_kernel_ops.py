"""Ops that launch nothing."""

from __future__ import annotations

from collections.abc import Iterator

from rung import units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward, is_drawn, launchless


def find(case: Case) -> Iterator[Sighting]:
    for forward in case.forwards:
        if forward.launchless_ops:
            yield _sighting(forward)


def _sighting(forward: Forward) -> Sighting:
    ops, spent = forward.launchless_ops, spent_ns(forward)
    verb = (
        "op launches nothing, it only rewrites"
        if ops.total() == 1
        else "ops launch nothing, they only rewrite"
    )
    took = "" if is_drawn(forward.example.trace) else f" ({units.duration(spent)} of CPU time)"
    kinds = units.listing([name.removeprefix("aten::") for name in ops])
    return Sighting(
        title=f"{ops.total()} {verb} shape and stride: {kinds}{took}",
        advice="Nothing to do on the GPU; a compiled call does not dispatch them.",
        forward=forward,
        evidence={"ops": dict(ops), "cpu_ns": spent},
    )


def spent_ns(forward: Forward) -> int:
    """CPU time of a forward's outermost views in ns; one inside another's time is part of it."""
    ops = forward.example.trace.tables.ops
    views = set(launchless(forward.example))
    return sum(int(ops.dur_ns[row]) for row in views if int(ops.parent[row]) not in views)


RULE = Rule(
    id="zero-kernel-ops",
    topic="launch",
    shows="`aten::t`, `transpose`, `view`, `reshape`, `as_strided`, `_unsafe_view`, ... with no launch.",
    means="They only rewrite shape and stride: a tensor's bytes stay where they are.",
    do="Nothing on the GPU; the CPU time they take is what a compiled call or a CUDA graph saves.",
    find=find,
    explains=True,
)
