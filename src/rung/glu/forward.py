"""The whole MLP without gradients: two kernels, for few rows both Rung's own."""

from __future__ import annotations

from collections.abc import Hashable

import torch
from torch.nn import functional

from rung.glu import few, few_rules, one_row, plans, reference
from rung.glu import gate_up as many
from rung.glu.devices import why_no_kernel
from rung.glu.operands import Run, Tensors


def plan(tensors: Tensors, activation: str, rounding: str) -> Run:
    """How a call like this one runs. No dimension is zero."""
    x, gate_weight, up_weight, _, gate_bias, up_bias, _ = tensors
    rows = x.numel() // x.shape[-1]
    if rows == 1:
        return one_row.plan(tensors, activation, rounding)
    if rows <= few_rules.FEW_ROWS:
        return few.plan(tensors, activation, rounding)
    gate_up = many.plan(x, gate_weight, up_weight, gate_bias, up_bias, activation, rounding, False).run

    def run(tensors: Tensors) -> torch.Tensor:
        x, gate_weight, up_weight, down_weight, gate_bias, up_bias, down_bias = tensors
        hidden, _, _ = gate_up(x, gate_weight, up_weight, gate_bias, up_bias)
        return functional.linear(hidden, down_weight, down_bias)

    return run


def key(tensors: Tensors, activation: str, rounding: str) -> Hashable:
    """Where the plan is kept for x, three weights, three biases or None."""
    x, gate_weight, up_weight, down_weight, gate_bias, up_bias, down_bias = tensors
    return plans.key(
        x, gate_weight, up_weight, gate_bias, up_bias,
        down_weight.shape, down_weight.stride(), down_weight.dtype, down_weight.device,
        down_weight.data_ptr() & 15, None if down_bias is None else plans.of(down_bias), activation, rounding,
    )  # fmt: skip


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
    tensors = (x, gate_weight, up_weight, down_weight, gate_bias, up_bias, down_bias)
    if why_no_kernel(x.device, x.dtype) or not (x.numel() and gate_weight.numel() and down_weight.numel()):
        return reference.glu_mlp(*tensors, activation, rounding)
    where = key(tensors, activation, rounding)
    run: Run = plans.find(where) or plans.keep(where, plan(tensors, activation, rounding))
    return run(tensors)
