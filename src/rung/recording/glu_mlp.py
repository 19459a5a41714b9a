"""Putting another module in a GLU MLP's place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rung.recording.machine import require_torch
from rung.recording.values import Skipped
from rung.recording.variants import Context, Ready

PROJECTIONS = ("gate_proj", "up_proj", "down_proj")

# One bf16 rounding is 2**-9; eager rounds three times on the way (3.5e-3 against fp64), a fused kernel once.
TOLERANCE = 2e-2


def refuse(variant: str, fn: Callable[..., Any]) -> Skipped | None:
    """Why `fn` is no GeGLU MLP whose weights another module can take over, or None where it is one."""
    torch = require_torch()
    projections = [getattr(fn, name, None) for name in PROJECTIONS]
    if not all(isinstance(projection, torch.nn.Linear) for projection in projections):
        return Skipped(variant, f"only a GLU MLP with {', '.join(PROJECTIONS)} (nn.Linear) has this variant")
    if any(projection.bias is not None for projection in projections if projection is not None):
        return Skipped(variant, "its projections must have no bias")
    return None


def copy_weights(source: Any, target: Any) -> Any:
    """`target` with the three weights of `source`, on the same device, in the same dtype."""
    torch = require_torch()
    weight = source.gate_proj.weight
    target = target.to(device=weight.device, dtype=weight.dtype)
    with torch.no_grad():
        for name in PROJECTIONS:
            getattr(target, name).weight.copy_(getattr(source, name).weight)
    return target


def rung_mlp(fn: Callable[..., Any], context: Context) -> Ready | Skipped:
    """`rung.glu.GLUMLP` with the weights of `fn`, or why not: its reference is no kernel to be looked at."""
    refused = refuse("rung", fn)
    if refused is not None:
        return refused
    from rung.glu import GLUMLP
    from rung.glu.devices import why_no_kernel

    obstacle = why_no_kernel(context.device, fn.gate_proj.weight.dtype)  # type: ignore[attr-defined]
    if obstacle is not None:
        return Skipped("rung", f"{obstacle}: Rung's kernels need a CUDA device (or TRITON_INTERPRET=1)")
    hidden, width = fn.gate_proj.weight.shape  # type: ignore[attr-defined]
    return Ready(copy_weights(fn, GLUMLP(width, hidden)), {"source": "rung.glu"}, TOLERANCE)
