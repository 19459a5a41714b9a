"""Launches that ask for the kernel's occupancy first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from rung import units
from rung.insight.findings.calls import calls, spent_ns
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward, is_drawn

QUERIES = re.compile(r"\w*Occupancy\w*")


def find(case: Case) -> Iterator[Sighting]:
    for forward in case.forwards:
        if any(row.occupancy_query for row in forward.rows):
            yield _sighting(forward)


def _sighting(forward: Forward) -> Sighting:
    kinds = Counter(str(row.kind) for row in forward.rows if row.occupancy_query)
    asked, launched = kinds.total(), sum(row.category == "kernel" for row in forward.rows)
    who = units.count(asked, "GEMM" if set(kinds) == {"gemm"} else "kernel")
    verb = "asks" if asked == 1 else "ask"
    spent = spent_ns(forward.example.trace, calls(forward.example, QUERIES))
    took = "" if is_drawn(forward.example.trace) else f" ({units.duration(spent)} of CPU time)"
    others = "; the others launch directly" if launched > asked else ""
    return Sighting(
        title=f"{who} {verb} for the kernel's occupancy right before the launch{took}: "
        f"the library sizes the grid{others}",
        advice="Nothing to do: it is how the library adapts the launch to this device.",
        forward=forward,
        evidence={"asked": asked, "kernels": launched, "kinds": dict(kinds), "cpu_ns": spent},
    )


RULE = Rule(
    id="heavy-launch",
    topic="launch",
    shows="An occupancy query (`cudaOccupancyMaxActiveBlocksPerMultiprocessor`) before a launch.",
    means="The kernel is launched adaptively, as GEMMs and convolutions are: its grid depends on the device.",
    do="Nothing; a CUDA graph asks once, when it is captured.",
    find=find,
    explains=True,
)
