"""The kernels of a forward under the roof of their device.

Williams, Waterman, Patterson: Roofline, CACM 52 (2009), https://doi.org/10.1145/1498765.1498785: a kernel of
F FLOP and B bytes takes no less than max(F / peak, B / bandwidth); which of the two is larger says what
limits it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from rung.insight.ceilings import Ceiling
from rung.insight.forward import Forward, WorkRow
from rung.insight.guessing.dtypes import gemm_dtype, matrix_dtype
from rung.insight.work import work_of
from rung.trace import Kernel

Side = Literal["compute", "memory"]

ELEMENTWISE = ("pointwise", "reduction", "normalization", "softmax")
"""Some FLOP an element, so that none is counted: less than the 10 FLOP a byte at which fp32 arithmetic off
the matrix units is the limit of an A100 (19.5 TFLOP/s / 2.0 TB/s), the lowest of the listed GPUs."""

MATRIX = ("gemm", "convolution", "attention")

RIDGE = 300.0
"""FLOP a byte where the device or the dtype is unknown: above the bf16 ridge of A100 (312 TFLOP/s / 2.0 TB/s
= 153), H100 (989 / 3.35 = 295), H200 (989 / 4.8 = 206) and B200 (2250 / 7.7 = 292)."""


@dataclass(frozen=True, slots=True)
class Point:
    """One kernel on the roofline. What is not known is None.

    `nbytes` are read and written; `intensity` is FLOP a byte; `dtype` is what it multiplies in (`"bf16"`,
    `"fp8"`). `least_ns` is what it would take at the ceiling: the larger of `compute_ns` and `memory_ns`.
    """

    flop: int | None
    nbytes: int | None
    intensity: float | None
    dtype: str | None
    side: Side | None
    least_ns: int | None
    memory_ns: int | None
    compute_ns: int | None
    row: WorkRow

    @property
    def flop_per_s(self) -> float | None:
        return self.row.flop_per_s

    @property
    def bytes_per_s(self) -> float | None:
        return self.row.bytes_per_s if self.nbytes is not None else None


@dataclass(frozen=True, slots=True)
class Roofline:
    """A forward's work under its device's ceiling: one point a row, in order."""

    forward: Forward
    ceiling: Ceiling | None
    points: tuple[Point, ...]


def roofline(forward: Forward, ceiling: Ceiling | None) -> Roofline:
    """Place each kernel, copy and memset of a forward; without a ceiling the times at it are None."""
    points = forward.told(lambda row, kernel: _point(row, _dtypes(kernel), ceiling))
    return Roofline(
        forward, ceiling, tuple(point(row) for point, row in zip(points, forward.rows, strict=True))
    )


def reached(points: Sequence[Point]) -> float | None:
    """Share of the ceiling that kernels reached together: the time at it over the time they took. None where
    it is not known of all. Above 1 what they read was in the cache, or another device was measured."""
    least = [point.least_ns for point in points]
    spent = sum(point.row.dur_ns.median for point in points)
    return sum(ns for ns in least if ns) / spent if spent and None not in least else None


def _point(row: WorkRow, dtypes: tuple[str, ...], ceiling: Ceiling | None) -> Callable[[WorkRow], Point]:
    """The point of a row, and of any that was recorded alike."""
    flop, nbytes = row.work.flop, _through_memory(row)
    dtype = dtypes[0] if len(dtypes) == 1 else None
    peak = ceiling.flop_per_s.get(dtype) if ceiling and dtype else None
    compute_ns, memory_ns = _at(peak, flop), _at(ceiling.bytes_per_s if ceiling else None, nbytes)
    intensity = 0.0 if flop == 0 else flop / nbytes if flop and nbytes else None
    side = _side(row, intensity, [ceiling.ridge(one) for one in dtypes] if ceiling else [])
    least_ns = _least(row, compute_ns, memory_ns)
    return partial(Point, flop, nbytes, intensity, dtype, side, least_ns, memory_ns, compute_ns)


def _side(row: WorkRow, intensity: float | None, ridges: list[float | None]) -> Side | None:
    """Above all ridges that it may have, or above none of them."""
    if is_elementwise(row):
        return "memory" if _on_device(row) else None
    known = [ridge for ridge in ridges if ridge is not None]
    least, most = (min(known), max(known)) if known and len(known) == len(ridges) else (RIDGE, RIDGE)
    if intensity is None or least < intensity <= most:
        return None
    return "compute" if intensity > most else "memory"


def _least(row: WorkRow, compute_ns: int | None, memory_ns: int | None) -> int | None:
    """Of a matrix product both must be known; anything else is counted in bytes alone."""
    if row.work.flop is None:
        return memory_ns if row.kind not in MATRIX else None
    return max(compute_ns, memory_ns) if compute_ns is not None and memory_ns is not None else None


def is_elementwise(row: WorkRow) -> bool:
    """Work that moves bytes, with little or no arithmetic."""
    return row.kind in ELEMENTWISE or row.category in ("copy", "memset")


def _through_memory(row: WorkRow) -> int | None:
    """Bytes through the device's memory; a copy on the device reads and writes each of its bytes."""
    if row.work.nbytes is None or not _on_device(row):
        return None
    return row.work.nbytes * (2 if row.category == "copy" else 1)


def _on_device(row: WorkRow) -> bool:
    """Whether the device's memory limits it: a copy from or to the host goes at the pace of the bus."""
    return row.category != "copy" or row.decoded.fields.get("direction") == "DtoD"


def _dtypes(kernel: Kernel) -> tuple[str, ...]:
    """What a kernel multiplies in, in the words of ceilings: fp32 matrices perhaps in TF32, and in nothing
    else where a tensor core does it, which knows no fp32. Both kinds of fp8 are one."""
    if kernel.kind not in MATRIX and work_of(kernel).flop is None:
        return ()
    found = gemm_dtype(kernel)
    if found is None and matrix_dtype(kernel) == "fp32":
        return ("tf32",) if kernel.decoded.fields.get("unit") == "tensorop" else ("fp32", "tf32")
    if found is None:
        return ()
    return ("fp8",) if all(word.startswith("fp8_") for word in found.split(" x ")) else (found,)


def _at(per_s: float | None, amount: int | None) -> int | None:
    """ns for an amount at a rate."""
    return round(amount / per_s * 1e9) if amount is not None and per_s else None
