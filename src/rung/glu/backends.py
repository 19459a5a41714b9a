"""Which path a call takes, and why."""

from __future__ import annotations

from typing import NamedTuple

import torch

from rung.glu import few_rules
from rung.glu.activations import Activation
from rung.glu.checks import check_choice, check_mlp
from rung.glu.devices import chip, kind_of, why_no_kernel
from rung.glu.gate_up import choose
from rung.glu.operands import arrange
from rung.glu.views import device_index


class Backend(NamedTuple):
    """`name`: `reference`, `few-rows` (two kernels of Rung's), `hopper`, `tma` or `portable` (gate-up kernel,
    then the library's GEMM for down). `reason`: why that one. `tile`: m, n, k of the gate-up kernel."""

    name: str
    reason: str
    tile: tuple[int, int, int] | None = None


def backend(
    x: torch.Tensor,
    gate_weight: torch.Tensor,
    up_weight: torch.Tensor,
    down_weight: torch.Tensor,
    activation: Activation = "gelu_tanh",
    gate_bias: torch.Tensor | None = None,
    up_bias: torch.Tensor | None = None,
    down_bias: torch.Tensor | None = None,
) -> Backend:
    """The path that `glu_mlp` takes with these arguments. Runs nothing; raises what `glu_mlp` raises."""
    check_choice(activation)
    tensors = (x, gate_weight, up_weight, down_weight, gate_bias, up_bias, down_bias)
    check_mlp(*tensors)
    obstacle = why_no_kernel(x.device, x.dtype)
    if obstacle is None and not (x.numel() and gate_weight.numel() and down_weight.numel()):
        obstacle = "a dimension is zero"
    if obstacle is not None:
        return Backend("reference", obstacle)
    train = torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)
    rows, (columns, depth) = x.numel() // x.shape[-1], gate_weight.shape
    if rows == 1 and not train:
        return Backend("few-rows", "one row", (1, *few_rules.gate_up_strip(depth)[:2]))
    if rows <= few_rules.FEW_ROWS and not train:
        multiprocessors = chip(device_index(x)).multiprocessors
        width = arrange(x, gate_weight, up_weight, gate_bias, up_bias).width
        tile = few_rules.gate_up(kind_of(x.dtype), rows, columns, multiprocessors, width)
        return Backend("few-rows", f"at most {few_rules.bucket(rows)} rows", tile[:3])
    kernel, tile, reason = choose(arrange(x, gate_weight, up_weight, gate_bias, up_bias), train)
    return Backend(kernel, reason, tile[:3])
