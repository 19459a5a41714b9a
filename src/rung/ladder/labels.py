"""Which weight a kernel works with, from what a recording says of the ops that read each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rung.insight.forward import Forward
from rung.trace import Op, Region


def labels(forward: Forward) -> tuple[str, ...]:
    """For each row of the forward the weights of its op, as `gate` or `0.q`; "" where there are none.

    What an op inside another reads is the inner one's. In the backward pass, a kernel whose op reads no
    weight goes by that of the op whose gradient it computes, if that reads one.
    """
    told = forward.example.trace.header.made.get("weights")
    if not isinstance(told, dict):
        return ("",) * len(forward.rows)
    read, inside = _readers(forward.example, told)

    def label(op: Op | None) -> str:
        for one in _upwards(op):
            own = [name for name in read.get(one.row, ()) if name not in inside.get(one.row, ())]
            if own:
                return ", ".join(own)
        start = next((one.forward for one in _upwards(op) if one.forward is not None), None)
        known = [] if start is None else [*read.get(start.row, ()), *inside.get(start.row, ())]
        return f"grad of {known[0]}" if len(known) == 1 else ""

    return tuple(label(kernel.op) for kernel in forward.example.work)


def _readers(region: Region, told: dict[str, Any]) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    """The weights read by each op of the region (by its row), and by the ops inside it."""
    of_id: dict[int, list[str]] = {}
    for name, ids in told.items():
        for one in ids:
            of_id.setdefault(one, []).append(short(name))
    read: dict[int, list[str]] = {}
    inside: dict[int, list[str]] = {}
    for op in region.trace.ops.select(region.trace.tables.regions.ops.of(region.row)):
        names = of_id.get(op.args.get("External id", -1), [])
        if names:
            read[op.row] = names
            for outer in _upwards(op.parent):
                inside.setdefault(outer.row, []).extend(names)
    return read, inside


def _upwards(op: Op | None) -> Iterator[Op]:
    while op is not None:
        yield op
        op = op.parent


def short(weight: str) -> str:
    """`gate` for `mlp.gate_proj`; with the number of its layer, if it has one, `0.q`."""
    parts = weight.split(".")
    layer = next((f"{part}." for part in parts[:-1] if part.isdigit()), "")
    return f"{layer}{parts[-1].removesuffix('_proj')}"
