"""Calls of compiled code, as `torch.compile` leaves them in a trace: `Torch-Compiled Region: K/M`, the M-th
compilation of its K-th frame."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rung import names
from rung.trace import Region, Trace
from rung.trace.tables import Ints

REGION = re.compile(r"Torch-Compiled Region: (\d+)/(\d+)")

COMPILES = frozenset(
    {
        *("dynamo", "entire_frame_compile", "entire_frame_compile (dynamo_timed)"),
        *("_compile.compile_inner", "_compile.compile_inner (dynamo_timed)"),
    }
)
"""Ops that span one compilation, by the versions of PyTorch that write them."""


@dataclass(frozen=True, slots=True)
class CompiledCall:
    """One run of a compiled frame. `row` is that of its op, `outer` of the compiled op around it, or -1."""

    frame: int
    version: int
    row: int
    outer: int

    def __str__(self) -> str:
        return f"{self.frame}/{self.version}"


def compiled_calls(trace: Trace, rows: Ints) -> list[CompiledCall]:
    """Those among some rows of `tables.ops`, by start."""
    ops = trace.tables.ops
    ids = {name: REGION.match(name) for name in set(ops.name)}
    found: dict[int, CompiledCall] = {}
    for row in rows.tolist():
        match = ids[ops.name[row]]
        if match:
            outer = int(ops.parent[row])
            while outer >= 0 and outer not in found:
                outer = int(ops.parent[outer])
            found[row] = CompiledCall(int(match[1]), int(match[2]), row, outer)
    return list(found.values())


def calls_in(region: Region) -> list[CompiledCall]:
    """Those inside one instance of a region."""
    return compiled_calls(region.trace, region.trace.tables.regions.ops.of(region.row))


def op_words(name: str) -> str:
    """An op by its name; a compiler's kernel by the ops it merged: `view + gelu`."""
    decoded = names.decode(name)
    return names.short(decoded).removeprefix("made by Inductor: ") if decoded.family == "inductor" else name
