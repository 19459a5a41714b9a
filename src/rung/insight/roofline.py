"""The kernels of a forward under the roof of their device.

Williams, Waterman, Patterson: Roofline, CACM 52 (2009), https://doi.org/10.1145/1498765.1498785: a kernel of
F FLOP and B bytes takes no less than max(F / peak, B / bandwidth); which of the two is larger says what
limits it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rung.insight.ceilings import Ceiling
from rung.insight.forward import Forward, WorkRow
from rung.insight.guessing.dtypes import gemm_dtype

Side = Literal["compute", "memory"]

ELEMENTWISE = ("pointwise", "reduction", "normalization", "softmax")
"""Some FLOP an element, so that none is counted: less than the 10 FLOP a byte at which fp32 arithmetic off
the matrix units is the limit of an A100 (19.5 TFLOP/s / 2.0 TB/s), the lowest of the listed GPUs."""

MATRIX = ("gemm", "convolution", "attention")

RIDGE = 300
"""FLOP a byte where the device or the dtype is unknown: above the bf16 ridge of A100 (312 TFLOP/s / 2.0 TB/s
= 153), H100 (989 / 3.35 = 295), H200 (989 / 4.8 = 206) and B200 (2250 / 7.7 = 292)."""


@dataclass(frozen=True, slots=True)
class Point:
    """One kernel on the roofline. What is not known is None.

    `nbytes` are read and written; `intensity` is FLOP a byte; `dtype` is what it multiplies in (`"bf16"`,
    `"fp8"`). `least_ns` is what it would take at the ceiling: the larger of `compute_ns` and `memory_ns`.
    """

    row: WorkRow
    flop: int | None
    nbytes: int | None
    intensity: float | None
    flop_per_s: float | None
    bytes_per_s: float | None
    dtype: str | None
    side: Side | None
    least_ns: int | None
    memory_ns: int | None
    compute_ns: int | None


@dataclass(frozen=True, slots=True)
class Roofline:
    """A forward's work under its device's ceiling: one point a row, in order."""

    forward: Forward
    ceiling: Ceiling | None
    points: tuple[Point, ...]


def roofline(forward: Forward, ceiling: Ceiling | None) -> Roofline:
    """Place each kernel, copy and memset of a forward; without a ceiling the times at it are None."""
    kernels = zip(forward.rows, forward.example.work, strict=True)
    dtypes = [_dtype(gemm_dtype(kernel)) if row.kind in MATRIX else None for row, kernel in kernels]
    points = (_point(row, dtype, ceiling) for row, dtype in zip(forward.rows, dtypes, strict=True))
    return Roofline(forward, ceiling, tuple(points))


def reached(points: Sequence[Point]) -> float | None:
    """Share of the ceiling that kernels reached together: the time at it over the time they took. None where
    it is not known of all. Above 1 what they read was in the cache, or another device was measured."""
    least = [point.least_ns for point in points]
    spent = sum(point.row.dur_ns.median for point in points)
    return sum(ns for ns in least if ns) / spent if spent and None not in least else None


def _point(row: WorkRow, dtype: str | None, ceiling: Ceiling | None) -> Point:
    flop, nbytes = row.work.flop, _through_memory(row)
    peak = ceiling.flop_per_s.get(dtype) if ceiling and dtype else None
    compute_ns, memory_ns = _at(peak, flop), _at(ceiling.bytes_per_s if ceiling else None, nbytes)
    intensity = 0.0 if flop == 0 else flop / nbytes if flop and nbytes else None
    return Point(
        row=row,
        flop=flop,
        nbytes=nbytes,
        intensity=intensity,
        flop_per_s=row.flop_per_s,
        bytes_per_s=row.bytes_per_s if nbytes is not None else None,
        dtype=dtype,
        side=_side(row, intensity, ceiling.ridge(dtype) if ceiling and dtype else None),
        least_ns=_least(row, compute_ns, memory_ns),
        memory_ns=memory_ns,
        compute_ns=compute_ns,
    )


def _side(row: WorkRow, intensity: float | None, ridge: float | None) -> Side | None:
    if is_elementwise(row):
        return "memory" if _on_device(row) else None
    if intensity is None:
        return None
    return "compute" if intensity > (ridge or RIDGE) else "memory"


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


def _dtype(found: str | None) -> str | None:
    """In the words of ceilings: both kinds of fp8 are one."""
    both_fp8 = found is not None and all(word.startswith("fp8_") for word in found.split(" x "))
    return "fp8" if both_fp8 else found


def _at(per_s: float | None, amount: int | None) -> int | None:
    """ns for an amount at a rate."""
    return round(amount / per_s * 1e9) if amount is not None and per_s else None
