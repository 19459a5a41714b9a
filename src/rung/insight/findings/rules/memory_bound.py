"""The memory's bandwidth is the limit."""

from __future__ import annotations

from collections.abc import Iterator

from rung import units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward
from rung.insight.roofline import Roofline


def find(case: Case) -> Iterator[Sighting]:
    for forward, bound, roof in zip(case.forwards, case.bounds, case.rooflines, strict=True):
        if bound.limit == "memory-bound" and any(point.side == "memory" for point in roof.points):
            yield _sighting(forward, roof)


def _sighting(forward: Forward, roof: Roofline) -> Sighting:
    moving = [p for p in roof.points if p.side == "memory"]
    busy, spent = forward.gpu_busy_ns.median, sum(p.row.dur_ns.median for p in moving)
    counted = [p for p in moving if p.nbytes]
    nbytes, took = sum(p.nbytes or 0 for p in counted), sum(p.row.dur_ns.median for p in counted)
    rate = nbytes / took * 1e9 if took else None
    share = rate / roof.ceiling.bytes_per_s if rate and roof.ceiling else None
    return Sighting(
        title=f"{units.percent(spent / busy)} of the GPU's time moves bytes, {units.duration(spent)} of "
        f"{units.duration(busy)}{_reached(nbytes, rate, share)}",
        advice="Fuse neighbouring kernels, so that less passes through memory, or use smaller dtypes.",
        forward=forward,
        cost_ns=spent,
        evidence={
            "memory_ns": spent,
            "gpu_busy_ns": busy,
            "bytes": nbytes or None,
            "bytes_per_s": rate,
            "share_of_bandwidth": share,
            "ceiling": roof.ceiling.source if share is not None and roof.ceiling else None,
        },
    )


def _reached(nbytes: int, rate: float | None, share: float | None) -> str:
    if rate is None:
        return "; the trace has no shapes to count them by"
    of_peak = f", {units.percent(share)} of the memory's bandwidth" if share is not None else ""
    cached = " (some of it stays in the cache)" if share is not None and share > 1 else ""
    return f": {units.size(nbytes)} at {units.byte_rate(rate)}{of_peak}{cached}"


RULE = Rule(
    id="memory-bound",
    topic="limit",
    shows="The GPU is busy, most of the time in kernels under the roofline's ridge.",
    means="Moving bytes is the limit.",
    do="Fuse, so that fewer bytes move.",
    find=find,
)
