"""Kernels that a compiler made of several ops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rung import names, units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.looking import spent_ns
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward, WorkRow, is_drawn

SHOWN = 3


def find(case: Case) -> Iterator[Sighting]:
    for forward in case.forwards:
        fused = [row for row in forward.rows if len(row.decoded.fields.get("ops", ())) > 1]
        if fused:
            yield _sighting(forward, fused)


def _sighting(forward: Forward, fused: Sequence[WorkRow]) -> Sighting:
    by_name: dict[str, list[WorkRow]] = {}
    for row in fused:
        by_name.setdefault(row.name, []).append(row)
    ranked = sorted(by_name.values(), key=spent_ns, reverse=True)
    measured = not is_drawn(forward.example.trace)
    said = [_said(rows, measured) for rows in ranked[:SHOWN]]
    more = [units.count(len(ranked) - SHOWN, "other")] if len(ranked) > SHOWN else []
    share = spent_ns(fused) / forward.gpu_busy_ns.median if forward.gpu_busy_ns.median else 0.0
    of_gpu = f" ({units.percent(min(share, 1.0))} of the GPU time)" if share and measured else ""
    told = "; ".join(said + more)
    return Sighting(
        title=f"the compiler merged ops into {units.count(len(fused), 'kernel')}{of_gpu}: {told}",
        advice="Nothing to do: what these ops passed to one another no longer goes through memory.",
        forward=forward,
        evidence={
            "kernels": [
                {
                    "name": rows[0].name,
                    "ops": rows[0].decoded.fields["ops"],
                    "count": len(rows),
                    "ns": spent_ns(rows),
                }
                for rows in ranked
            ]
        },
    )


def _said(rows: Sequence[WorkRow], measured: bool) -> str:
    ops = names.short(rows[0].decoded).removeprefix("made by Inductor: ")
    often = f", {len(rows)} times" if len(rows) > 1 else ""
    took = f" in {units.duration(spent_ns(rows))}" if measured else ""
    return f"{ops}{took}{often}"


RULE = Rule(
    id="fused-by-compiler",
    topic="fusion",
    shows="A `triton_*_fused_*` or `cpp_fused_*` kernel.",
    means="The compiler merged the ops in its name into one kernel.",
    do="Nothing; `rung diff` against the eager trace says which round trips through memory it saved.",
    find=find,
    explains=True,
)
