"""Replayed graphs: one launch, many kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rung import units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward


def find(case: Case) -> Iterator[Sighting]:
    for forward in case.forwards:
        if any(row.graph for row in forward.rows):
            yield _sighting(forward)


def _sighting(forward: Forward) -> Sighting:
    work = Counter(row.category for row in forward.rows if row.graph)
    launches = _launches(forward)
    name = next(row.launch for row in forward.rows if row.graph)
    pieces = units.listing([units.count(work[c], c) for c in ("kernel", "copy", "memset") if work[c]])
    calls = f"one {name} replays" if launches == 1 else f"{launches} {name} replay"
    return Sighting(
        title=f"{calls} {pieces}",
        advice="Nothing to do: the CPU pays for one launch, not for each kernel; keep shapes fixed.",
        forward=forward,
        evidence={"launch": name, "launches": launches, **work},
    )


def _launches(forward: Forward) -> int:
    rows = forward.example.work.rows[[row.graph for row in forward.rows]]
    return len(set(forward.example.trace.tables.kernels.launch[rows].tolist()))


RULE = Rule(
    id="graph-launch",
    topic="launch",
    shows="one `cudaGraphLaunch` and many kernels behind it.",
    means="A captured graph is replayed: the CPU pays one launch for all of them.",
    do="Nothing; inputs have to lie where they lay when it was captured.",
    find=find,
    explains=True,
)
