"""The whole MLP for few rows in two launches. Checked arguments, no autograd, no host sync."""

from __future__ import annotations

import torch

from rung.glu import rules
from rung.glu.devices import chip, kind_of
from rung.glu.gate_up import run
from rung.glu.operands import precision
from rung.glu.rules import Tile
from rung.glu.views import device_index, fold, vector_width


def few_rows_mlp(
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
    """[..., D] for x [..., K] of 1 to FEW_ROWS rows, no dimension empty."""
    columns, depth = down_weight.shape
    rows = x.numel() // x.shape[-1]
    tile = rules.down(kind_of(x.dtype), rows)
    splits, steps = rules.split_k(columns, depth, tile, chip(device_index(x)).multiprocessors)
    counters = torch.empty(-(-columns // tile.n), dtype=torch.int32, device=x.device)
    hidden, _, _ = run(x, gate_weight, up_weight, gate_bias, up_bias, activation, rounding, False, counters)
    parts = torch.empty(splits * rows * columns if splits > 1 else 1, dtype=torch.float32, device=x.device)
    y = torch.empty((*x.shape[:-1], columns), dtype=x.dtype, device=x.device)
    _down(fold(hidden), down_weight, down_bias, y, parts, counters, tile, splits, steps)
    return y


def _down(
    hidden: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    y: torch.Tensor,
    parts: torch.Tensor,
    counters: torch.Tensor,
    tile: Tile,
    splits: int,
    steps: int,
) -> None:
    from rung.glu.kernels.launch import Spec
    from rung.glu.kernels.table import DOWN

    (rows, depth), columns = hidden.shape, weight.shape[0]
    width = vector_width((hidden, weight, bias), depth)
    arguments = (
        *(hidden, weight, y if bias is None else bias, y, parts, counters),
        *(rows, columns, depth // width, weight.stride(0) // width, weight.stride(1)),
        *(int(bias is not None), splits, steps),
    )
    constants = (precision(hidden.dtype), width, tile.m, tile.n, tile.k, tile.stages, False)
    spec = Spec(hidden.dtype, width > 1, constants, tile.warps, tile.stages)
    DOWN.launch(spec, len(counters) * splits, arguments, device_index(hidden))
