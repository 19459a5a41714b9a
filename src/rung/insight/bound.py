"""What limits a forward: launches, arithmetic or memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from rung import units
from rung.insight.forward import Forward, WorkRow

Limit = Literal["overhead-bound", "compute-bound", "memory-bound", "mixed", "no-gpu"]

IDLE = 0.5
"""A GPU that idles for more than half the wall time does little but wait for the CPU."""

WAITING = 0.1
"""From this share of idle time on, a faster kernel would in part only wait longer: neither side rules."""

RIDGE = 300
"""FLOP a byte. Above the bf16 ridge of A100 (312 TFLOP/s / 2.0 TB/s = 153), H100 (989 / 3.35 = 295), H200
(989 / 4.8 = 206) and B200 (2250 / 8 = 281), dense peaks from NVIDIA's data sheets."""

DOMINANT = 0.6
"""Share of the GPU's busy time from which one side rules."""


@dataclass(frozen=True, slots=True)
class Bound:
    limit: Limit
    sentence: str


def bound(forward: Forward) -> Bound:
    """What limits the median forward, from the GPU's idle share and the intensity of its kernels."""
    busy, wall = forward.gpu_busy_ns.median, forward.wall_ns.median
    if not busy:
        stand_in = any(row.category == "op" for row in forward.rows)
        return Bound(
            "no-gpu", f"no GPU work{': the ops that compute stand in for kernels' if stand_in else ''}"
        )
    idle = forward.gpu_idle_share
    works = f"the GPU works {units.duration(busy)} of each {units.duration(wall)}"
    if idle > IDLE:
        return Bound("overhead-bound", f"overhead-bound: {works} ({units.percent(idle)} idle)")
    compute = _share(forward, is_compute_heavy)
    if idle > WAITING:
        return Bound(
            "mixed",
            f"mixed: {works} and waits for the CPU the rest ({units.percent(idle)}); "
            f"{units.percent(compute)} of its work is matrix products",
        )
    if compute >= DOMINANT:
        return Bound(
            "compute-bound", f"compute-bound: {works}, {units.percent(compute)} of it in matrix products"
        )
    memory = _share(forward, is_memory_heavy)
    if memory >= DOMINANT:
        return Bound("memory-bound", f"memory-bound: {works}, {units.percent(memory)} of it moving bytes")
    shares = f"{units.percent(compute)} in matrix products, {units.percent(memory)} moving bytes"
    return Bound("mixed", f"mixed: {works}, {shares}")


def _share(forward: Forward, counts: Callable[[WorkRow], bool]) -> float:
    """Share of the busy time in some of the rows; overlapping streams would add up to more than all of it."""
    spent = sum(row.dur_ns.median for row in forward.rows if counts(row))
    return min(spent / forward.gpu_busy_ns.median, 1.0)


_MEMORY_KINDS = ("pointwise", "reduction", "normalization", "softmax", "copy", "memset")


def is_memory_heavy(row: WorkRow) -> bool:
    """Work that reads and writes more than it computes, such as a matrix product with one row."""
    return row.kind in _MEMORY_KINDS or (row.kind == "gemm" and not is_compute_heavy(row))


def is_compute_heavy(row: WorkRow) -> bool:
    """A matrix product with more FLOP a byte (its three matrices moved once) than any listed device's ridge.

    One whose shape was not recorded (in a replayed graph, say) counts as such.
    """
    if row.kind != "gemm" or row.gemm is None:
        return row.kind == "gemm"
    g = row.gemm
    elements = g.batch * (g.m * g.k + g.k * g.n + g.m * g.n)
    return g.flop > RIDGE * elements * row.element_bytes
