"""Matrix products that miss the tensor cores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rung import names, units
from rung.insight.ceilings import Ceiling
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.looking import spent_ns
from rung.insight.findings.rule import Rule
from rung.insight.roofline import Point, Roofline
from rung.trace import Trace

TF32_SINCE = 8
"""Compute capability of the first NVIDIA devices that multiply fp32 matrices in TF32 (Ampere)."""


def find(case: Case) -> Iterator[Sighting]:
    for roof in case.rooflines:
        products = [point for point in roof.points if point.row.kind in ("gemm", "convolution")]
        slow = [point for point in products if _is_slow(point)]
        if slow and (_is_mixed(slow, products) or has_tf32(case.trace)):
            yield _sighting(roof, slow, products)


def _is_slow(point: Point) -> bool:
    """Whether a kernel multiplies in fp32 for certain: its name says ordinary cores."""
    fields = point.row.decoded.fields
    if point.row.kind == "gemm":
        return point.row.category == "kernel" and point.dtype == "fp32"
    return fields.get("unit") == "simt" and "fp32" in (fields.get("dtype"), fields.get("dtype_a"))


def has_tf32(trace: Trace) -> bool:
    """Whether the device of a trace has TF32, as its `computeMajor` tells; AMD's counts otherwise."""
    return any(
        isinstance(major := device.get("computeMajor"), int)
        and major >= TF32_SINCE
        and "AMD" not in str(device.get("name"))
        for device in trace.header.device_properties
    )


def _sighting(roof: Roofline, slow: Sequence[Point], products: Sequence[Point]) -> Sighting:
    rows = [point.row for point in slow]
    spent, flop = spent_ns(rows), sum(point.flop or 0 for point in slow)
    least = _least_ns(slow, roof.ceiling)
    reason, advice = _reason(slow, products)
    rate = f", {units.flop_rate(flop / spent * 1e9)}" if flop and spent else ""
    bound = f"; at the device's TF32 peak they would take {units.duration(least)}" if least else ""
    ops = Counter(row.op or row.name for row in rows)
    by = units.listing([f"{op}{f' x{n}' if n > 1 else ''}" for op, n in ops.most_common(3)])
    return Sighting(
        title=f"{len(slow)} of {len(products)} matrix products ({by}) run in fp32 on ordinary cores, "
        f"{units.duration(spent)}{rate}: {reason}{bound}",
        advice=advice,
        forward=roof.forward,
        cost_ns=max(spent - (least or 0), 0),
        evidence={
            "ops": dict(ops),
            "kernels": list(dict.fromkeys(row.name for row in rows)),
            "products": len(products),
            "gpu_ns": spent,
            "flop": flop or None,
            "tf32_ns": least,
        },
    )


def _reason(slow: Sequence[Point], products: Sequence[Point]) -> tuple[str, str]:
    """Why they miss the tensor cores, as far as the other products tell, and what to do about it."""
    if _is_mixed(slow, products):
        return (
            "the others multiply in 16 bits",
            "Cast that op's inputs to the dtype of the others, or use torch.autocast, unless it needs fp32.",
        )
    if any(_on_tensor_cores(point) for point in products if _sort(point) in set(map(_sort, slow))):
        return (
            "others reach the tensor cores; these shapes or their alignment may not suit TF32",
            "Pad the sizes to multiples of 4 (16 bytes of fp32), or run the model in bf16.",
        )
    return (
        "TF32 is off",
        'Set torch.set_float32_matmul_precision("high") for TF32, or run the model in bf16 (torch.autocast).',
    )


def _is_mixed(slow: Sequence[Point], products: Sequence[Point]) -> bool:
    return sum(point.dtype in ("bf16", "fp16") for point in products) > len(slow)


def _sort(point: Point) -> str:
    """Matrix product or convolution, by the op: a convolution may run a GEMM, and has its own switch."""
    return names.decode_op(point.row.op).kind if point.row.op else ""


def _on_tensor_cores(point: Point) -> bool:
    return point.row.decoded.fields.get("unit") == "tensorop"


def _least_ns(slow: Sequence[Point], ceiling: Ceiling | None) -> int | None:
    """What all of them would take at the TF32 peak; None where that or their FLOP is not known."""
    peak = ceiling.flop_per_s.get("tf32") if ceiling else None
    known = [point.flop for point in slow if point.flop is not None]
    return round(sum(known) / peak * 1e9) if peak and len(known) == len(slow) else None


RULE = Rule(
    id="precision-fallback",
    topic="kernels",
    shows="GEMMs in fp32 on ordinary cores, on a device with TF32 or in a bf16 model.",
    means="The slow path: no tensor core takes part.",
    do='`torch.set_float32_matmul_precision("high")`, or bf16; where some ops fall back, cast their inputs.',
    find=find,
)
