"""An op that walks through several others for its one kernel."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rung import units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward
from rung.trace import Op
from rung.trace.tables import Ints

FEW = 3
"""Names inside an op from which on the profiler's table looks like more work than there is."""


def find(case: Case) -> Iterator[Sighting]:
    for forward in case.forwards:
        seen = _longest_walk(forward)
        if seen is not None:
            yield _sighting(forward, *seen)


def _sighting(forward: Forward, op: Op, inside: list[str]) -> Sighting:
    return Sighting(
        title=f"{op.name} walks through {units.listing(inside)}: {len(inside) + 1} names, one kernel",
        advice="Read the launches, not the ops: of all these names one puts work on the device.",
        forward=forward,
        evidence={"op": op.name, "inside": inside, "cpu_ns": op.dur_ns},
    )


def _longest_walk(forward: Forward) -> tuple[Op, list[str]] | None:
    """The outermost ATen op around a GEMM that runs this one kernel and has the most names inside."""
    trace = forward.example.trace
    rows = forward.example.work.rows
    is_kernel = [row.category in ("kernel", "op") for row in forward.rows]
    outer = _outermost(forward)
    alone = np.bincount(outer[is_kernel] + 1, minlength=len(trace.ops) + 1)[outer + 1] == 1
    seen: dict[tuple[str, ...], tuple[Op, list[str]]] = {}
    for i in range(len(rows)):
        row, op = forward.rows[i], trace.ops.at(outer[i])
        if row.kind != "gemm" or not alone[i] or op is None or row.path in seen:
            continue
        inside = dict.fromkeys(name.removeprefix("aten::") for name in _names_inside(op) if name != op.name)
        seen[row.path] = op, list(inside)
    longest = max(seen.values(), key=lambda found: len(found[1]), default=None)
    return longest if longest and len(longest[1]) >= FEW else None


def _outermost(forward: Forward) -> Ints:
    """For each piece of a forward's work the outermost of the ATen ops right around its launch, or -1."""
    tables = forward.example.trace.tables
    found = []
    for row, work in zip(forward.rows, forward.example.work.rows.tolist(), strict=True):
        op, outer = int(tables.kernels.op[work]), -1
        for name in reversed(row.path):
            if not name.startswith("aten::"):
                break
            outer, op = op, int(tables.ops.parent[op])
        found.append(outer)
    return np.array(found, dtype=np.int64)


def _names_inside(op: Op) -> list[str]:
    return [name for child in op.children for name in (child.name, *_names_inside(child))]


RULE = Rule(
    id="many-names",
    topic="launch",
    shows="An op that dispatches several others, one inside the other, and runs one kernel.",
    means="PyTorch composes ops of simpler ones; the profiler lists each of them with nearly the same time.",
    do="Count launches and kernels, not rows of the table.",
    find=find,
    explains=True,
)
