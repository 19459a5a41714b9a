"""The arithmetic units are the limit."""

from __future__ import annotations

from collections.abc import Iterator

from rung import units
from rung.insight.bound import computes
from rung.insight.ceilings import Ceiling
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward
from rung.insight.roofline import Roofline, reached


def find(case: Case) -> Iterator[Sighting]:
    for forward, bound, roof in zip(case.forwards, case.bounds, case.rooflines, strict=True):
        if bound.limit == "compute-bound":
            yield _sighting(forward, roof)


def _sighting(forward: Forward, roof: Roofline) -> Sighting:
    computing = [point for point in roof.points if computes(point)]
    busy, spent = forward.gpu_busy_ns.median, sum(p.row.dur_ns.median for p in computing)
    flop = sum(p.flop or 0 for p in computing)
    rate, share = flop / spent * 1e9, reached(computing)
    dtypes = sorted({p.dtype for p in computing if p.dtype})
    return Sighting(
        title=f"{units.percent(spent / busy)} of the GPU's time is arithmetic, {units.duration(spent)} of "
        f"{units.duration(busy)}{_said(rate, share, dtypes, roof.ceiling)}",
        advice=_advice(share, dtypes),
        forward=forward,
        cost_ns=spent,
        evidence={
            "compute_ns": spent,
            "gpu_busy_ns": busy,
            "flop": flop,
            "flop_per_s": rate,
            "share_of_peak": share,
            "dtypes": dtypes,
            "ceiling": roof.ceiling.source if roof.ceiling and share is not None else None,
        },
    )


def _said(rate: float, share: float | None, dtypes: list[str], ceiling: Ceiling | None) -> str:
    measured = "measured " if ceiling is not None and ceiling.source.startswith("measured") else ""
    of_peak = f", {units.percent(share)} of its {measured}{units.listing(dtypes)} peak" if share else ""
    return f" at {units.flop_rate(rate)}{of_peak}"


NEAR_PEAK = 0.8
"""cuBLAS reaches 0.81 of the data sheet on an 8192 cube in bf16 on an H200 (804 of 989 TFLOP/s)."""


def _advice(share: float | None, dtypes: list[str]) -> str:
    lower = {"fp32": "TF32 or bf16", "tf32": "bf16", "bf16": "fp8", "fp16": "fp8"}
    to = next((lower[d] for d in dtypes if d in lower), "a lower precision")
    if share is not None and share >= NEAR_PEAK:
        return f"Little is left in the kernels themselves: compute in {to}, or compute less."
    return f"Compute in {to}, or find better tiles: sizes that are multiples of 128, mode='max-autotune'."


RULE = Rule(
    id="compute-bound",
    topic="limit",
    shows="The GPU is busy all the time, most of it in kernels above the roofline's ridge.",
    means="The tensor cores are the limit.",
    do="Lower the precision, or find better tiles.",
    find=find,
)
