"""A frame that was compiled again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rung import units
from rung.insight.findings.case import Case
from rung.insight.findings.compiled import COMPILES, CompiledCall, compiled_calls
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.forward import family_name
from rung.trace import Region, Trace
from rung.trace.regions import WHOLE_TRACE
from rung.trace.tables import Ints

WIDE = 10
"""How many times as wide as the median a call has to be to count as compiling where no compilation is
recorded: below that it may be another version's longer work."""


@dataclass(frozen=True, slots=True)
class Recompile:
    """A compilation of a frame that had been compiled before; `instance` is the outermost region around it.

    `compile_ns` is 0 where only the width of the call tells.
    """

    call: CompiledCall
    compile_ns: int
    instance: Region


def find(case: Case) -> Iterator[Sighting]:
    regions = [region for forward in case.forwards for region in case.instances(forward)]
    at = case.trace.tables.ops.start_ns
    found = [
        replace(one, instance=instance)
        for one in recompiles(case.trace)
        if (instance := _holding(regions, int(at[one.call.row]))) is not None
    ]
    for number, one in enumerate(found, start=1):
        yield _sighting(one, number, len(found))


def _holding(regions: Sequence[Region], start: int) -> Region | None:
    return next((one for one in regions if one.start_ns <= start < one.start_ns + one.cpu_ns), None)


def recompiles(trace: Trace) -> list[Recompile]:
    """All recompilations in a trace, by start."""
    calls = compiled_calls(trace, np.arange(len(trace.tables.ops.name)))
    if not calls:
        return []
    spent = _compilations(trace, calls)
    seen: set[tuple[int, int]] = set()
    found = []
    for call in calls:
        again = call.version > 0 and (call.frame, call.version) not in seen
        instance = _around(trace, call.row) if again else None
        if instance is not None and (spent[call.row] or _looks_compiled(trace, calls, seen, call, instance)):
            found.append(Recompile(call, spent[call.row], instance))
        seen.add((call.frame, call.version))
    return found


def _looks_compiled(
    trace: Trace,
    calls: Sequence[CompiledCall],
    seen: set[tuple[int, int]],
    call: CompiledCall,
    around: Region,
) -> bool:
    """Whether another version of the frame ran before, and this one's first call is out of proportion."""
    if not any(frame == call.frame for frame, _ in seen):
        return False
    return around.cpu_ns >= WIDE * _usual_width(trace, calls) > 0


def _compilations(trace: Trace, calls: Sequence[CompiledCall]) -> dict[int, int]:
    """For each call the ns of compilation right before it: since the last call on its thread."""
    ops = trace.tables.ops
    spent = dict.fromkeys((call.row for call in calls), 0)
    names = {name for name in set(ops.name) if name in COMPILES}
    rows = [row for row, name in enumerate(ops.name) if name in names] if names else []
    inner = set(rows)
    starts = np.array([ops.start_ns[call.row] for call in calls], dtype=np.int64)
    for row in rows:
        if _inside(ops.parent, row, inner):
            continue
        for at in range(int(np.searchsorted(starts, ops.start_ns[row] + ops.dur_ns[row])), len(calls)):
            if ops.thread[calls[at].row] == ops.thread[row]:
                spent[calls[at].row] += int(ops.dur_ns[row])
                break
    return spent


def _inside(parent: Ints, row: int, wanted: set[int]) -> bool:
    row = int(parent[row])
    while row >= 0 and row not in wanted:
        row = int(parent[row])
    return row >= 0


def _around(trace: Trace, row: int) -> Region | None:
    """The outermost region around the start of an op."""
    table, start = trace.tables.regions, int(trace.tables.ops.start_ns[row])
    there = (table.parent < 0) & (table.start_ns <= start) & (start < table.start_ns + table.cpu_ns)
    rows = np.flatnonzero(there)
    return trace.regions[int(rows[0])] if len(rows) else None


def _usual_width(trace: Trace, calls: Sequence[CompiledCall]) -> int:
    """The median width of the regions around some calls."""
    around = {found.row: found.cpu_ns for call in calls if (found := _around(trace, call.row)) is not None}
    ordered = sorted(around.values())
    return ordered[(len(ordered) - 1) // 2] if ordered else 0


def _sighting(one: Recompile, number: int, of: int) -> Sighting:
    instance = one.instance
    alone = instance.name == WHOLE_TRACE or family_name(instance) != instance.name
    which = instance.name if alone else f"call {instance.instance + 1} of {instance.name}"
    took = f"took {units.duration(instance.cpu_ns)}"
    compiling = f", {units.duration(one.compile_ns)} of it compiling" if one.compile_ns else ""
    return Sighting(
        title=f"recompilation {number} of {of}: frame {one.call.frame} again, as {one.call}; "
        f"{which} {took}{compiling}",
        advice="See what changed with TORCH_LOGS=recompiles: keep shapes fixed (pad), mark the dimension "
        "that varies with torch._dynamo.mark_dynamic, or pass dynamic=True.",
        cost_ns=one.compile_ns or instance.cpu_ns,
        instance=instance,
        evidence={
            "compiled": str(one.call),
            "call": instance.instance + 1,
            "call_ns": instance.cpu_ns,
            "compile_ns": one.compile_ns or None,
        },
    )


RULE = Rule(
    id="recompile",
    topic="compiler",
    shows="`Torch-Compiled Region: K/M` with the same K and a new M, behind a compilation.",
    means="A guard failed (another shape, dtype or Python value): the frame was specialised once more.",
    do="Find the guard with TORCH_LOGS=recompiles; keep shapes fixed or mark the varying dimension dynamic.",
    find=find,
    explains=True,
)
