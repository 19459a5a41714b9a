"""`glu` and `glu_mlp`: checks, autocast, and the way to a kernel or to the reference."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import torch
from torch.utils.checkpoint import checkpoint

from rung.glu import autograd, forward, ops, plans, pointwise, reference, seen
from rung.glu.activations import Activation
from rung.glu.checks import check_choice, check_glu, check_mlp
from rung.glu.devices import KERNEL_DTYPES, why_no_kernel
from rung.glu.modes import needs_grad, ordinary, plain, through_dispatcher, transformed
from rung.glu.operands import Run, Tensors
from rung.glu.reference import Rounding

__all__ = ["glu", "glu_mlp", "ops"]


def glu(gate: torch.Tensor, up: torch.Tensor, activation: Activation = "gelu_tanh") -> torch.Tensor:
    """act(gate) * up, elementwise in one kernel, computed in fp32 and rounded once.

    `gate` and `up` have one shape (any), dtype (bf16, fp16, fp32, fp64) and device; so has the result,
    which is contiguous. Differentiable to any order. Raises TypeError or ValueError for anything else.
    """
    if ordinary((gate, up)):
        plan = pointwise.planned("GLU", activation, gate, up)
        if plan is not None:
            return plan.run(gate, up)[0]
    check_glu(gate, up, activation)
    if why_no_kernel(gate.device, gate.dtype) is not None:
        return reference.glu(gate, up, activation)
    if through_dispatcher(gate, up):
        return cast(torch.Tensor, torch.ops.rung.glu(gate, up, activation))
    if needs_grad(gate, up) or transformed():
        return cast(torch.Tensor, autograd.GLU.apply(gate, up, activation))
    return pointwise.glu(gate, up, activation)


def glu_mlp(
    x: torch.Tensor,
    gate_weight: torch.Tensor,
    up_weight: torch.Tensor,
    down_weight: torch.Tensor,
    activation: Activation = "gelu_tanh",
    gate_bias: torch.Tensor | None = None,
    up_bias: torch.Tensor | None = None,
    down_bias: torch.Tensor | None = None,
    *,
    rounding: Rounding = "single",
    recompute: bool = False,
) -> torch.Tensor:
    """down(act(gate(x)) * up(x)), weights as `nn.Linear` keeps them.

    `x` [..., in_features]; `gate_weight`, `up_weight` [hidden_features, in_features]; `down_weight`
    [out_features, hidden_features]; biases [hidden_features], [hidden_features], [out_features]; one dtype
    (bf16, fp16, fp32, fp64; under autocast all but fp64 is cast to its dtype) and device. Returns [...,
    out_features].

    Without gradients two kernels run, and gate, up and the activation never reach memory. With gradients
    gate, up and their product are kept; with `recompute` only x is, and backward runs the gate-up kernel
    again. `rounding="single"` rounds the product once; `"eager"` rounds gate, up and the activation too,
    where three linears do. Raises TypeError (types, dtypes) or ValueError (shapes, devices, names), with
    what was expected.
    """
    tensors: Any = (x, gate_weight, up_weight, down_weight, gate_bias, up_bias, down_bias)
    options = (activation, rounding, recompute)
    run = seen.find(tensors, options) or _planned(tensors, options)
    if run is not None:
        return run(tensors)
    check_choice(activation, rounding)
    cast_to = _autocast_dtype(x)
    if cast_to is not None:
        tensors = tuple(_cast(t, cast_to) for t in tensors)
    check_mlp(*tensors)
    if cast_to is not None:
        # The arithmetic below names its own dtypes.
        with torch.autocast(x.device.type, enabled=False):
            return _mlp(tensors, activation, rounding, recompute)
    return _mlp(tensors, activation, rounding, recompute)


def _planned(tensors: Tensors, options: tuple[str, str, bool]) -> Run | None:
    """How an ordinary call runs that was planned before, or None."""
    if not plain(tensors[:4], tensors[4:]):
        return None
    if needs_grad(*tensors):
        run = autograd.planned_mlp(tensors, *options)
    else:
        run = plans.find(forward.key(tensors, *options[:2]))
    if run is not None:
        seen.remember(tensors, options, run)
    return run


def _mlp(tensors: tuple[Any, ...], activation: str, rounding: str, recompute: bool) -> torch.Tensor:
    if why_no_kernel(tensors[0].device, tensors[0].dtype) is not None:
        run: Any = reference.glu_mlp
        if recompute and torch.is_grad_enabled():
            run = partial(checkpoint, run, use_reentrant=False, preserve_rng_state=False)
        return cast(torch.Tensor, run(*tensors, activation, rounding))
    if not (needs_grad(*tensors) or transformed()):
        run = torch.ops.rung.glu_mlp if through_dispatcher(*tensors) else forward.glu_mlp
        return cast(torch.Tensor, run(*tensors, activation, rounding))
    return autograd.mlp(tensors, activation, rounding, not recompute)


def _cast(tensor: Any, dtype: torch.dtype) -> Any:
    """As autocast does: neither integers nor fp64."""
    castable = isinstance(tensor, torch.Tensor) and tensor.dtype in KERNEL_DTYPES
    return tensor.to(dtype) if castable else tensor


def _autocast_dtype(x: Any) -> Any:
    """What autocast casts to here, or None where it is off."""
    kind = x.device.type if isinstance(x, torch.Tensor) else "cpu"
    if kind == "meta":  # which autocast does not know
        return None
    if not torch.is_autocast_enabled(kind) or getattr(x, "dtype", None) == torch.float64:
        return None
    return torch.get_autocast_dtype(kind)
