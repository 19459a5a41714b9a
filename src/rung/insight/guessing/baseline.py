"""The time that a tolerance is about: on the same device, or not at all."""

from __future__ import annotations

from rung.insight.guessing.devices import device_of
from rung.insight.guessing.language import Expectation
from rung.insight.guessing.tolerance import Near
from rung.insight.guessing.untold import UntoldError
from rung.insight.spread import spread
from rung.trace import Region, Trace


def baseline_ns(expectation: Expectation, want: Near, region: Region, baseline: Trace | None) -> int | None:
    """The baseline's median over its regions of this name, in ns; None where the line gives a time itself.

    Raises:
        UntoldError: there is no baseline, it was recorded on another device, or it lacks region or time.
    """
    if baseline is None:
        if want.bound is not None and expectation.scope.names_a_model:
            return None
        raise UntoldError(
            "a time with a tolerance is compared on one device only: write it in a device's section, such as"
            " [h200], or give the baseline's trace"
        )
    _refuse_another_device(baseline, region.trace)
    if want.bound is not None:
        return None
    same = [r for r in baseline.regions if r.name == region.name or (region.parent is r.parent is None)]
    same = [r for r in same if r.name == region.name] or (same if expectation.region is None else [])
    times = [r.cpu_ns if expectation.subject == "cpu" else r.gpu_busy_ns for r in same]
    if not times or (expectation.subject != "cpu" and baseline.stand_in):
        raise UntoldError(f"the baseline {baseline.path} has no such time")
    return spread(times).median


def _refuse_another_device(baseline: Trace, trace: Trace) -> None:
    there, here = device_of(baseline), device_of(trace)
    if there is None or here is None:
        silent = baseline.path if there is None else trace.path
        raise UntoldError(f"times are compared on one device only, and {silent} does not name its own")
    if there != here:
        raise UntoldError(f"the baseline was recorded on {there}, this trace on {here}: no time is compared")
