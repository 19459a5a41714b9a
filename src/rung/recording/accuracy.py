"""Does a variant compute what eager computes?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rung.recording.calls import bind, tensors
from rung.recording.machine import require_torch
from rung.recording.values import Settings, Work


def compare(fn: Callable[..., Any], work: Work, settings: Settings) -> dict[str, float] | None:
    """One call of `fn` against one of the work's own function: the largest absolute difference, and
    ‖difference‖ / ‖eager‖, both in fp64 over all outputs. None where there is nothing to compare: a training
    step, or outputs that are no floating tensors of equal shapes.
    """
    if settings.train:
        return None
    ours, eager = (_outputs(one, work, settings) for one in (fn, work.fn))
    if not eager or [t.shape for t in ours] != [t.shape for t in eager]:
        return None
    pairs = [(a.double() - b.double(), b.double()) for a, b in zip(ours, eager, strict=True)]
    size = sum(float(b.square().sum()) for _, b in pairs) ** 0.5
    difference = sum(float(d.square().sum()) for d, _ in pairs) ** 0.5
    largest = (
        max(float(d.abs().max()) for d, _ in pairs if d.numel()) if any(d.numel() for d, _ in pairs) else 0.0
    )
    return {"max_abs_error": largest, "relative_error": difference / size if size else difference}


def _outputs(fn: Callable[..., Any], work: Work, settings: Settings) -> list[Any]:
    if settings.seed is not None:
        require_torch().manual_seed(settings.seed)
    return [t for t in tensors(bind(fn, work, settings)()) if t.is_floating_point()]
