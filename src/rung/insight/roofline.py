"""The kernels of a forward under the roof of their device.

Williams, Waterman, Patterson: Roofline, CACM 52 (2009): a kernel of F FLOP and B bytes takes no less than
max(F / peak, B / bandwidth); which of the two is larger says what limits it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rung.insight.ceilings import Ceiling
from rung.insight.forward import Forward, WorkRow
from rung.insight.guessing.dtypes import gemm_dtype

Side = Literal["compute", "memory"]

MEMORY_KINDS = ("pointwise", "reduction", "normalization", "softmax")
"""Some FLOP an element: below the fp32 ridge of every listed device, whatever the op."""

RIDGE = 300
"""FLOP a byte where the device is unknown: above the bf16 ridge of A100 (312 TFLOP/s / 2.0 TB/s = 153), H100
(989 / 3.35 = 295), H200 (989 / 4.8 = 206) and B200 (2250 / 8 = 281)."""


@dataclass(frozen=True, slots=True)
class Point:
    """One kernel on the roofline. What is not known is None.

    `nbytes` are read and written; `least_ns` is what it would take at the ceiling, the larger of `compute_ns`
    and `memory_ns`; `dtype` is what it multiplies in (`"bf16"`, `"fp8"`).
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
    """Place each kernel, copy and memset of a forward; without a ceiling times at it are None."""
    return Roofline(forward, ceiling, tuple(_point(forward, row, ceiling) for row in forward.rows))


def _point(forward: Forward, row: WorkRow, ceiling: Ceiling | None) -> Point:
    flop, nbytes = row.work.flop, _traffic(row)
    dtype = _dtype(forward, row)
    compute_ns = _least(flop, ceiling.flop_per_s.get(dtype) if ceiling and dtype else None)
    memory_ns = _least(nbytes, ceiling.bytes_per_s if ceiling else None)
    intensity = flop / nbytes if flop and nbytes else None
    known = [ns for ns in (compute_ns, memory_ns) if ns is not None]
    whole = row.kind in MEMORY_KINDS or row.category in ("copy", "memset") or len(known) == 2
    return Point(
        row=row,
        flop=flop,
        nbytes=nbytes,
        intensity=intensity,
        flop_per_s=_rate(flop, row.dur_ns.median),
        bytes_per_s=_rate(nbytes, row.dur_ns.median),
        dtype=dtype,
        side=_side(row, intensity, ceiling.ridge(dtype) if ceiling and dtype else None),
        least_ns=max(known) if known and whole else None,
        memory_ns=memory_ns,
        compute_ns=compute_ns,
    )


def _side(row: WorkRow, intensity: float | None, ridge: float | None) -> Side | None:
    if row.kind in MEMORY_KINDS or row.category in ("copy", "memset"):
        return "memory" if _on_device(row) else None
    if intensity is None:
        return None
    return "compute" if intensity > (ridge or RIDGE) else "memory"


def _traffic(row: WorkRow) -> int | None:
    """Bytes through the device's memory; a copy on the device reads and writes each of its bytes."""
    if row.work.nbytes is None or not _on_device(row):
        return None
    both = 2 if row.category == "copy" else 1
    return both * row.work.nbytes


def _on_device(row: WorkRow) -> bool:
    """Whether the device's memory limits it: a copy from or to the host goes at the bus's pace."""
    return row.category != "copy" or row.decoded.fields.get("direction") == "DtoD"


def _dtype(forward: Forward, row: WorkRow) -> str | None:
    if row.kind != "gemm":
        return None
    dtype = gemm_dtype(forward.work_of(row))
    return "fp8" if dtype and dtype.startswith("fp8") and " x " not in dtype else dtype


def _least(amount: int | None, per_s: float | None) -> int | None:
    return round(amount / per_s * 1e9) if amount is not None and per_s else None


def _rate(amount: int | None, ns: int) -> float | None:
    return amount / ns * 1e9 if amount and ns else None
