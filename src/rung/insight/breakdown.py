"""Where the time of one forward goes: to each kind of work, and to none."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from rung.insight.forward import Forward
from rung.names import Kind
from rung.trace import Kernel


@dataclass(frozen=True, slots=True)
class Breakdown:
    """ns of one forward's wall time by kind of work, largest first; the rest is `idle_ns`. They add up to
    `wall_ns`: where streams overlap, a moment belongs to the work that began first."""

    wall_ns: int
    kinds: tuple[tuple[Kind, int], ...]
    idle_ns: int


def breakdown(forward: Forward) -> Breakdown:
    """The forward's example, moment by moment."""
    spent: Counter[Kind] = Counter()
    reached = 0
    for kernel in sorted(forward.example.work, key=_start):
        spent[kernel.kind] += max(0, kernel.end_ns - max(kernel.start_ns, reached))
        reached = max(reached, kernel.end_ns)
    wall = forward.example.wall_ns
    kinds = tuple((kind, ns) for kind, ns in spent.most_common() if ns)
    return Breakdown(wall, kinds, max(0, wall - sum(ns for _, ns in kinds)))


def _start(kernel: Kernel) -> int:
    return kernel.start_ns
