"""What opportunities are judged by: kernels under their roof, the tensors between them, memory's speed."""

from __future__ import annotations

from dataclasses import dataclass

from rung import units
from rung.insight.flow import Flow, flow
from rung.insight.forward import Forward, WorkRow, is_drawn
from rung.insight.roofline import Roofline


@dataclass(frozen=True, slots=True)
class Memory:
    """How fast a device moves bytes, read and written, and how we know."""

    bytes_per_s: float
    known: str

    def ns(self, nbytes: int) -> int:
        return round(nbytes / self.bytes_per_s * 1e9)


@dataclass(frozen=True, slots=True)
class Setting:
    """`memory` is None where the speed of the device's memory is not known."""

    roofline: Roofline
    tensors: Flow
    memory: Memory | None

    @property
    def forward(self) -> Forward:
        return self.roofline.forward

    @property
    def stand_in(self) -> bool:
        """Ops stand in for kernels: no Triton kernel, and so none of Rung's and Liger's, would run here."""
        return self.forward.example.trace.stand_in

    @property
    def rows(self) -> tuple[WorkRow, ...]:
        return self.roofline.forward.rows


def setting(roofline: Roofline) -> Setting:
    """The setting of one forward."""
    return Setting(roofline, flow(roofline.forward), _memory(roofline))


def _memory(roofline: Roofline) -> Memory | None:
    """The device's copy bandwidth; for a device nobody measured, the fastest kernel of the forward itself.

    Where no time was measured there is nothing to predict from.
    """
    if is_drawn(roofline.forward.example.trace):
        return None
    if roofline.ceiling is not None:
        speed = roofline.ceiling.bytes_per_s
        how = "measured" if roofline.ceiling.source.startswith("measured") else "of its data sheet"
        return Memory(speed, f"{units.byte_rate(speed)} {how}")
    seen = [p.bytes_per_s for p in roofline.points if p.bytes_per_s and p.side == "memory"]
    return Memory(max(seen), f"{units.byte_rate(max(seen))}, the fastest seen here") if seen else None
