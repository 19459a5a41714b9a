"""What the kernels compute, in plain PyTorch: any device, differentiable, one implementation an op.

Rounding `"single"`: gate, up and activation stay in fp32 (fp64 for fp64 inputs), the product is rounded to
the input's dtype once. Rounding `"eager"`: gate, up and the activation are each rounded to the input's dtype,
at the three points where a module of three linears rounds them.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch.nn import functional

from rung.glu.activations import ACTIVATIONS

Rounding = Literal["single", "eager"]


def wide(dtype: torch.dtype) -> torch.dtype:
    """The dtype that intermediates of `dtype` are kept in."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def glu(gate: torch.Tensor, up: torch.Tensor, activation: str) -> torch.Tensor:
    """act(gate) * up, computed wide, rounded to the dtype of `gate` once. Both of one shape."""
    accumulate = wide(gate.dtype)
    return (ACTIVATIONS[activation](gate.to(accumulate)) * up.to(accumulate)).to(gate.dtype)


def glu_backward(
    grad: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, activation: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients of `glu` for gate and up, computed wide; differentiable itself, to any order."""
    accumulate = wide(gate.dtype)

    def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return ACTIVATIONS[activation](a) * b

    _, pull = torch.func.vjp(product, gate.to(accumulate), up.to(accumulate))
    grad_gate, grad_up = pull(grad.to(accumulate))
    return grad_gate.to(gate.dtype), grad_up.to(up.dtype)


def gate_up(
    x: torch.Tensor,
    gate_weight: torch.Tensor,
    up_weight: torch.Tensor,
    gate_bias: torch.Tensor | None,
    up_bias: torch.Tensor | None,
    activation: str,
    rounding: str,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(h, gate, up) for x [..., K] and weights [N, K]: h = act(gate) * up, all [..., N] in the dtype of x."""
    if rounding == "eager":
        gate = functional.linear(x, gate_weight, gate_bias)
        up = functional.linear(x, up_weight, up_bias)
        return ACTIVATIONS[activation](gate) * up, gate, up
    accumulate = wide(x.dtype)
    gate = _linear(x, gate_weight, gate_bias, accumulate)
    up = _linear(x, up_weight, up_bias, accumulate)
    hidden = (ACTIVATIONS[activation](gate) * up).to(x.dtype)
    return hidden, gate.to(x.dtype), up.to(x.dtype)


def glu_mlp(
    x: torch.Tensor,
    gate_weight: torch.Tensor,
    up_weight: torch.Tensor,
    down_weight: torch.Tensor,
    gate_bias: torch.Tensor | None,
    up_bias: torch.Tensor | None,
    down_bias: torch.Tensor | None,
    activation: str,
    rounding: str,
) -> torch.Tensor:
    """down(act(gate(x)) * up(x)): x [..., K], gate and up [N, K], down [D, N] -> [..., D]."""
    hidden, _, _ = gate_up(x, gate_weight, up_weight, gate_bias, up_bias, activation, rounding)
    return functional.linear(hidden, down_weight, down_bias)


def _linear(x: Any, weight: Any, bias: Any, dtype: torch.dtype) -> Any:
    return functional.linear(x.to(dtype), weight.to(dtype), None if bias is None else bias.to(dtype))
