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


def sentence(forward: Forward) -> str:
    """`one cudaGraphLaunch replays 5 kernels and 2 memsets`"""
    work, launches = _work(forward), _launches(forward)
    pieces = units.listing([units.count(work[c], c) for c in ("kernel", "copy", "memset") if work[c]])
    return (
        f"one {_name(forward)} replays {pieces}"
        if launches == 1
        else f"{launches} {_name(forward)} replay {pieces}"
    )


def _sighting(forward: Forward) -> Sighting:
    return Sighting(
        title=sentence(forward),
        advice="Nothing to do: the CPU pays for one launch, not for each kernel; keep shapes fixed.",
        forward=forward,
        evidence={"launch": _name(forward), "launches": _launches(forward), **_work(forward)},
    )


def _work(forward: Forward) -> Counter[str]:
    return Counter(row.category for row in forward.rows if row.graph)


def _name(forward: Forward) -> str | None:
    return next(row.launch for row in forward.rows if row.graph)


def _launches(forward: Forward) -> int:
    rows = forward.example.work.rows[[row.graph for row in forward.rows]]
    return len(set(forward.example.trace.tables.kernels.launch[rows].tolist()))


RULE = Rule(
    id="graph-launch",
    topic="launch",
    shows="One `cudaGraphLaunch` and many kernels behind it.",
    means="A captured graph is replayed: the CPU pays one launch for all of them.",
    do="Nothing; inputs have to lie where they lay when it was captured.",
    find=find,
    explains=True,
)
