"""The whole MLP without gradients: two kernels, for few rows both Rung's own."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple, cast

import torch
from torch.nn import functional

from rung.glu import few, few_rules, gate_up, one_row, plans, reference
from rung.glu.devices import why_no_kernel


class Plan(NamedTuple):
    """For many rows: Rung's gate-up kernel, then the library's GEMM."""

    gate_up: gate_up.Plan

    def run(
        self,
        x: torch.Tensor,
        gate_weight: torch.Tensor,
        up_weight: torch.Tensor,
        down_weight: torch.Tensor,
        gate_bias: torch.Tensor | None,
        up_bias: torch.Tensor | None,
        down_bias: torch.Tensor | None,
    ) -> torch.Tensor:
        hidden, _, _ = self.gate_up.run(x, gate_weight, up_weight, gate_bias, up_bias)
        return functional.linear(hidden, down_weight, down_bias)


def key(tensors: tuple[Any, ...], activation: str, rounding: str) -> Hashable:
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
    plan = plans.find(where)
    if plan is None:
        rows = x.numel() // x.shape[-1]
        if rows == 1:
            plan = one_row.plan(*tensors, activation, rounding)
        elif rows <= few_rules.FEW_ROWS:
            plan = few.plan(*tensors, activation, rounding)
        else:
            plan = Plan(gate_up.plan(*tensors[:3], gate_bias, up_bias, activation, rounding, False))
        plans.keep(where, plan)
    return cast(torch.Tensor, plan.run(*tensors))
