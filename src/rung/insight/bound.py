"""What limits a forward: launches, arithmetic or memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from rung import units
from rung.insight.ceilings import ceiling_of
from rung.insight.forward import Forward
from rung.insight.roofline import Point, Roofline, roofline

Limit = Literal["overhead-bound", "compute-bound", "memory-bound", "mixed", "no-gpu"]

IDLE = 0.5
"""A GPU that idles for more than half the wall time does little but wait for the CPU."""

WAITING = 0.1
"""From this share of idle time on, a faster kernel would in part only wait longer: neither side rules."""

DOMINANT = 0.6
"""Share of the GPU's busy time from which one side rules."""


@dataclass(frozen=True, slots=True)
class Bound:
    limit: Limit
    sentence: str


def bound(forward: Forward, placed: Roofline | None = None) -> Bound:
    """What limits the median forward, from the GPU's idle share and the sides of its kernels on the roofline.

    `placed` is that roofline, where it is at hand; else it is drawn for the trace's device.
    """
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
    placed = placed or roofline(forward, ceiling_of(forward.example.trace))
    compute = _share(placed, computes)
    if idle > WAITING:
        return Bound(
            "mixed",
            f"mixed: {works} and {_waits(forward)} the rest ({units.percent(idle)}); "
            f"{units.percent(_share(placed, _is_product))} of its work is matrix products",
        )
    if compute >= DOMINANT:
        return Bound(
            "compute-bound", f"compute-bound: {works}, {units.percent(compute)} of it in matrix products"
        )
    memory = _share(placed, lambda point: point.side == "memory")
    if memory >= DOMINANT:
        return Bound("memory-bound", f"memory-bound: {works}, {units.percent(memory)} of it moving bytes")
    parts = [f"{units.percent(compute)} in matrix products", f"{units.percent(memory)} moving bytes"]
    for share, said in (
        (_share(placed, _unknown_product), "in matrix products of unknown shapes"),
        (_share(placed, _over_the_bus), "copying from or to the host"),
    ):
        parts += [f"{units.percent(share)} {said}"] if share else []
    return Bound("mixed", f"mixed: {works}, {', '.join(parts)}")


def _waits(forward: Forward) -> str:
    """What the GPU does meanwhile, as far as a trace without its CPU side tells."""
    return "waits for the CPU" if len(forward.example.trace.launches) else "idles"


def _share(placed: Roofline, counts: Callable[[Point], bool]) -> float:
    """Share of the busy time in some of the kernels; overlapping streams would add up to more than all of
    it."""
    spent = sum(point.row.dur_ns.median for point in placed.points if counts(point))
    return min(spent / placed.forward.gpu_busy_ns.median, 1.0)


def computes(point: Point) -> bool:
    """Whether arithmetic limits a kernel, as far as is known."""
    return point.side == "compute"


def _is_product(point: Point) -> bool:
    return point.row.kind == "gemm"


def _unknown_product(point: Point) -> bool:
    """A matrix product whose shapes were not recorded, in a replayed graph, say: with few rows memory would
    limit it, with many arithmetic."""
    return point.side is None and _is_product(point)


def _over_the_bus(point: Point) -> bool:
    return point.row.category == "copy" and point.side is None
