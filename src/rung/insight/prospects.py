"""What a forward would take if one of its limits were gone."""

from __future__ import annotations

from dataclasses import dataclass

from rung import units
from rung.insight.forward import Forward
from rung.insight.roofline import Roofline, Side


@dataclass(frozen=True, slots=True)
class Prospects:
    """ns for a median forward; None where it cannot be told.

    `gpu_work_ns`: its GPU work alone, launches free, as a CUDA graph would have it. On top of that,
    `perfect_memory_ns`: each kernel limited by memory moves its bytes at the device's full bandwidth;
    `perfect_compute_ns`: each limited by arithmetic reaches its dtype's peak. A kernel that too little is
    known of stays as it was.
    """

    gpu_work_ns: int | None
    perfect_memory_ns: int | None
    perfect_compute_ns: int | None

    def sentence(self, wall_ns: int) -> str:
        """What is to be won of a forward's wall time: by launches alone, where they cost much; empty where
        nothing is."""
        if self.gpu_work_ns is None:
            return ""
        if self.gpu_work_ns < (1 - LAUNCHES) * wall_ns:
            took = units.duration(self.gpu_work_ns)
            return f"With its GPU work alone, as a CUDA graph has it, it would take {took}."
        known = (
            ("memory at full bandwidth", self.perfect_memory_ns),
            ("arithmetic at its peak", self.perfect_compute_ns),
        )
        told = [
            f"{units.duration(ns)} with {what}"
            for what, ns in known
            if ns is not None and ns < (1 - WORTH) * self.gpu_work_ns
        ]
        return f"It would take {', or '.join(told)}." if told else ""


LAUNCHES, WORTH = 0.1, 0.02
"""Shares of the wall time, and of the GPU's, from which there is something to win."""


def prospects(forward: Forward, roof: Roofline) -> Prospects:
    """What a forward could take, by its roofline."""
    busy = forward.gpu_busy_ns.median
    return Prospects(busy or None, _perfect(busy, roof, "memory"), _perfect(busy, roof, "compute"))


def _perfect(busy: int, roof: Roofline, side: Side) -> int | None:
    """The busy time, were each kernel on this side of the ridge as fast as the ceiling allows."""
    known = [
        (p.row.dur_ns.median, p.least_ns) for p in roof.points if p.side == side and p.least_ns is not None
    ]
    saved = sum(max(took - least, 0) for took, least in known)
    return max(busy - saved, 0) if busy and known else None
