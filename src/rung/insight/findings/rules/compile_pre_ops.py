"""What a compiled call pays before its graph runs."""

from __future__ import annotations

from collections.abc import Iterator

from rung import units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward


def find(case: Case) -> Iterator[Sighting]:
    for forward in case.forwards:
        if forward.pre_ops_ns:
            yield _sighting(forward)


def _sighting(forward: Forward) -> Sighting:
    spent = sum(forward.pre_ops_ns.values())
    cpu = forward.cpu_ns.median
    share = f", {units.percent(min(spent / cpu, 1.0))} of its CPU time" if cpu else ""
    parts = units.listing([f"{name} {units.duration(ns)}" for name, ns in forward.pre_ops_ns.items()])
    return Sighting(
        title=f"every call pays {units.duration(spent)} before its graph runs{share}: {parts}",
        advice="It pays off where it replaces more eager dispatch than that (rung diff with the eager trace "
        'says); mode="reduce-overhead" replays a CUDA graph instead.',
        forward=forward,
        cost_ns=spent,
        evidence={"pre_ops_ns": dict(forward.pre_ops_ns), "cpu_ns": cpu},
    )


RULE = Rule(
    id="compile-pre-ops",
    topic="compiler",
    shows="`TorchDynamo Cache Lookup`, `Pregraph bytecode` and a runtime prologue on every call.",
    means="The price of a compiled call: finding the compiled code, checking guards, unpacking arguments.",
    do="Compare it with the eager dispatch it replaces; on small work a CUDA graph or fewer, larger calls.",
    find=find,
)
