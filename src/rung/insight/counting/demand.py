"""What an op asks of its kernel: arithmetic, tensors to read, tensors to write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rung.insight.tensors import Call, Tensor


@dataclass(frozen=True, slots=True)
class Demand:
    """FLOP of its matrix arithmetic (None where it has none, or shapes do not tell), and the tensors that
    pass through memory. A tensor of unknown dtype is there with an empty one."""

    flop: int | None
    reads: tuple[Tensor, ...]
    writes: tuple[Tensor, ...]

    @property
    def nbytes(self) -> int | None:
        """Each tensor moved once: the least that a kernel has to; None if one's dtype is unknown."""
        moved = (*self.reads, *self.writes)
        return sum(t.nbytes for t in moved) if moved and all(t.dtype for t in moved) else None


Count = Callable[[Call], Demand | None]
"""How one op is counted; None where its shapes do not tell."""


def moved(reads: list[Tensor], *writes: Tensor) -> Demand:
    """Work that moves tensors and has no matrix arithmetic."""
    return Demand(None, tuple(reads), writes)


def passes(
    call: Call, reads: tuple[int, ...], writes: tuple[int, ...], weights: tuple[int, ...] = ()
) -> Demand | None:
    """An op that reads the tensors at some positions and writes as much as those at others have; `weights`
    are read where they are there. None if one of the others is absent."""
    read, written = call.given(*reads), call.given(*writes)
    if read is None or written is None:
        return None
    return moved(read + call.some(*weights), *(Tensor(t.shape, t.dtype) for t in written))


SCALAR_TYPES = dict(
    zip(
        ("0", "1", "2", "3", "4", "5", "6", "7", "11", "15", "23", "24"),
        (
            *("unsigned char", "signed char", "short", "int", "long int", "c10::Half", "float", "double"),
            *("bool", "c10::BFloat16", "c10::Float8_e5m2", "c10::Float8_e4m3fn"),
        ),
        strict=True,
    )
)
"""How a dtype is written among an op's arguments (`c10/core/ScalarType.h`)."""
