"""The whole MLP without gradients: two kernels, for few rows both Rung's own."""

from __future__ import annotations

import torch
from torch.nn import functional

from rung.glu import reference, rules
from rung.glu.devices import why_no_kernel
from rung.glu.few import few_rows_mlp
from rung.glu.gate_up import gate_up


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
    """down(act(gate(x)) * up(x)); see `reference.glu_mlp` for shapes. Gate, up and activation stay on
    chip."""
    arguments = (x, gate_weight, up_weight, down_weight, gate_bias, up_bias, down_bias, activation, rounding)
    if why_no_kernel(x.device, x.dtype) or not (x.numel() and gate_weight.numel() and down_weight.numel()):
        return reference.glu_mlp(*arguments)
    if x.numel() // x.shape[-1] <= rules.FEW_ROWS:
        return few_rows_mlp(*arguments)
    hidden, _, _ = gate_up(x, gate_weight, up_weight, gate_bias, up_bias, activation, rounding, False)
    return functional.linear(hidden, down_weight, down_bias)
