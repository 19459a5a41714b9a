"""The rung variant: Rung's own fused module in the place of every GLU MLP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rung.recording.machine import interpreted, require_torch
from rung.recording.swapping import (
    NO_MLP,
    TOLERANCE,
    activation_of,
    glu_mlps,
    is_glu_mlp,
    swapped,
    with_linears_of,
)
from rung.recording.values import Skipped
from rung.recording.variants import Context, Ready


def rung_mlp(fn: Callable[..., Any], context: Context) -> Ready | Skipped:
    """`fn` with `rung.glu.GLUMLP` over its own weights, or why not: its reference is no kernel to look at."""
    mlps = glu_mlps(fn) if isinstance(fn, require_torch().nn.Module) else []
    if not mlps:
        return Skipped("rung", NO_MLP)
    from rung.glu.devices import why_no_kernel

    obstacle = why_no_kernel(context.device, mlps[0].gate_proj.weight.dtype)
    if obstacle is not None:
        return Skipped("rung", f"{obstacle}: Rung's kernels need a CUDA device")
    module, made = swapped(fn, _in_place_of)
    if not made:
        return Skipped("rung", "rung.glu has no kernel for the activation of its MLPs")
    return Ready(module, {"source": "rung.glu", "exchanged": dict(made)}, TOLERANCE, interpreted())


def _in_place_of(old: Any) -> Any:
    """A GLUMLP with the three linears of a GLU MLP whose activation it has; None for anything else."""
    from rung.glu import GLUMLP

    activation = activation_of(old) if is_glu_mlp(old) else None
    if activation is None:
        return None
    hidden, width = old.gate_proj.weight.shape
    return with_linears_of(GLUMLP(width, hidden, activation, device="meta"), old)
