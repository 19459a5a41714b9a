"""The whole MLP for few rows: two launches and two allocations, no host sync."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from rung.glu import few_rules, memory, portable
from rung.glu.devices import chip, dependent_launch, kind_of
from rung.glu.memory import Make
from rung.glu.operands import Operands, arrange, biases, precision, steps
from rung.glu.rules import Tile
from rung.glu.views import device_index, fold, vector_width

if TYPE_CHECKING:
    from rung.glu.kernels.launch import Launch

LINE = 128
"""Bytes that each part of the scratch memory is a multiple of."""


class Plan(NamedTuple):
    """Both kernels and both allocations prepared. The scratch memory holds h, then from its byte on each the
    parts of a split sum and the counters."""

    gate_up: Launch
    down: Launch
    address: Callable[[torch.Tensor], Any]
    beyond: Callable[[Any, int], Any]
    y: Make
    scratch: Make
    parts: int
    counters: int

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
        """y, in memory of its own."""
        address = self.address
        y, scratch = self.y(), self.scratch()
        hidden, to = address(scratch), address(y)
        counters = self.beyond(hidden, self.counters)
        self.gate_up(
            address(fold(x)), address(gate_weight), address(up_weight),
            to if gate_bias is None else address(gate_bias), to if up_bias is None else address(up_bias),
            hidden, counters,
        )  # fmt: skip
        bias = to if down_bias is None else address(down_bias)
        self.down(hidden, address(down_weight), bias, to, self.beyond(hidden, self.parts), counters)
        return y


def plan(
    x: torch.Tensor,
    gate_weight: torch.Tensor,
    up_weight: torch.Tensor,
    down_weight: torch.Tensor,
    gate_bias: torch.Tensor | None,
    up_bias: torch.Tensor | None,
    down_bias: torch.Tensor | None,
    activation: str,
    rounding: str,
    tiled_as: int | None = None,
) -> Plan:
    """How a call like this one, with 2 to FEW_ROWS rows, runs. No dimension is zero.

    `tiled_as` lets the rules choose tiles for so many hidden and output features.
    """
    from rung.glu.kernels.launch import address, beyond

    device = chip(device_index(x))
    kind, (columns, depth) = kind_of(x.dtype), down_weight.shape
    operands = arrange(x, gate_weight, up_weight, gate_bias, up_bias)
    rows = operands.x.shape[0]
    width = vector_width((down_weight, down_bias), depth)
    tile = few_rules.down(kind, rows, tiled_as or columns, device.multiprocessors, width)
    splits, each = few_rules.split_k(columns, depth, tile, device.multiprocessors)
    counters = -(-columns // tile.n)
    h_bytes = _whole_lines(rows * depth * x.element_size())
    part_bytes = _whole_lines(4 * splits * rows * columns if splits > 1 else 0)
    size = h_bytes + part_bytes + _whole_lines(4 * counters)
    gate_up_tile = few_rules.gate_up(kind, rows, tiled_as or depth, device.multiprocessors, operands.width)
    return Plan(
        _gate_up(operands, gate_up_tile, (activation, rounding == "eager"), counters),
        _down(rows, down_weight, down_bias, tile, counters * splits, (splits, each)),
        address,
        beyond,
        memory.prepare((*x.shape[:-1], columns), x.dtype, x.device),
        memory.prepare((size,), torch.uint8, x.device),
        h_bytes,
        h_bytes + part_bytes,
    )


def _gate_up(operands: Operands, tile: Tile, flags: tuple[str, bool], counters: int) -> Launch:
    """Takes the addresses of x, both weights, both biases, hidden, counters."""
    from rung.glu.kernels.launch import Spec
    from rung.glu.kernels.table import GATE_UP_SIXTEEN

    x, gate_weight, up_weight, gate_bias, up_bias, width = operands
    pdl = dependent_launch(chip(device_index(x)))
    if tile.m > few_rules.SIXTEEN:
        launch = portable.prepare(operands, tile, (*flags, False), counters, pdl)
        return lambda x, g, u, gb, ub, h, counters: launch(x, g, u, gb, ub, h, h, h, counters)
    (rows, depth), columns = x.shape, gate_weight.shape[0]
    constants = (*flags, precision(x.dtype), width, tile.m, tile.n, tile.k, tile.stages, pdl)
    return GATE_UP_SIXTEEN.prepare(
        Spec(x.dtype, width > 1, constants, tile.warps, tile.stages, pdl),
        device_index(x),
        -(-columns // tile.n),
        (*(x.dtype,) * 6, torch.int32),
        (
            *(rows, columns // width, depth // width, *steps(x, width), *steps(gate_weight, width)),
            *(*steps(up_weight, width), biases(gate_bias, up_bias), counters),
        ),
    )


def _down(
    rows: int,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    tile: Tile,
    blocks: int,
    split: tuple[int, int],
) -> Launch:
    """Takes the addresses of hidden, weight, bias, y, parts, counters."""
    from rung.glu.kernels.launch import Spec
    from rung.glu.kernels.table import DOWN, DOWN_SIXTEEN

    (columns, depth), dtype = weight.shape, weight.dtype
    width = vector_width((weight, bias), depth)
    pdl = dependent_launch(chip(device_index(weight)))
    constants = (precision(dtype), width, tile.m, tile.n, tile.k, tile.stages, pdl)
    kernel = DOWN if tile.m > few_rules.SIXTEEN else DOWN_SIXTEEN
    return kernel.prepare(
        Spec(dtype, width > 1, constants, tile.warps, tile.stages, pdl),
        device_index(weight),
        blocks,
        (*(dtype,) * 4, torch.float32, torch.int32),
        (rows, columns, depth // width, *steps(weight, width), int(bias is not None), *split),
    )


def _whole_lines(size: int) -> int:
    return -(-size // LINE) * LINE
