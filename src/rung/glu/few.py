"""The whole MLP for few rows: two launches and two allocations, no host sync."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from rung.glu import few_rules, memory, portable
from rung.glu.devices import chip, current_device, dependent_launch, kind_of, stream_of
from rung.glu.operands import Operands, Run, Tensors, arrange, biases, precision, steps
from rung.glu.rules import Tile
from rung.glu.views import device_index, fold, vector_width

if TYPE_CHECKING:
    from rung.glu.kernels.entry import Enter

LINE = 128
"""Bytes that each part of the scratch memory is a multiple of."""


def plan(tensors: Tensors, activation: str, rounding: str, tiled_as: int | None = None) -> Run:
    """How a call like this one, with 2 to FEW_ROWS rows, runs. No dimension is zero.

    `tiled_as` lets the rules choose tiles for so many hidden and output features. The scratch memory holds h,
    then the parts of a split sum, then the counters.
    """
    from rung.glu.kernels.launch import address, beyond

    x, gate_weight, up_weight, down_weight, gate_bias, up_bias, down_bias = tensors
    device = device_index(x)
    multiprocessors = chip(device).multiprocessors
    kind, (columns, depth) = kind_of(x.dtype), down_weight.shape
    operands = arrange(x, gate_weight, up_weight, gate_bias, up_bias)
    copied = operands.x.data_ptr() != x.data_ptr()
    rows = operands.x.shape[0]
    width = vector_width((down_weight, down_bias), depth)
    tile = few_rules.down(kind, rows, tiled_as or columns, multiprocessors, width)
    splits, each = few_rules.split_k(columns, depth, tile, multiprocessors)
    tiles = -(-columns // tile.n)
    to_parts = _whole_lines(rows * depth * x.element_size())
    to_counters = to_parts + _whole_lines(4 * splits * rows * columns if splits > 1 else 0)
    gate_up_tile = few_rules.gate_up(kind, rows, tiled_as or depth, multiprocessors, operands.width)
    prepare_down = _down(rows, down_weight, down_bias, tile, tiles * splits, (splits, each))
    gate_up = _gate_up(operands, gate_up_tile, (activation, rounding == "eager"), tiles)
    down = prepare_down()
    make_y = memory.on_current((*x.shape[:-1], columns), x.dtype, x.device)
    make_scratch = memory.on_current((to_counters + _whole_lines(4 * tiles),), torch.uint8, x.device)

    def run(tensors: Tensors) -> torch.Tensor:
        if current_device() != device:
            with torch.cuda.device(device):
                return run(tensors)
        x, gate_weight, up_weight, down_weight, gate_bias, up_bias, down_bias = tensors
        stream, y, scratch = stream_of(device), make_y(), make_scratch()
        hidden, to = address(scratch), address(y)
        counters = beyond(hidden, to_counters)
        gate_up(
            stream, address(fold(x) if copied else x), address(gate_weight), address(up_weight),
            to if gate_bias is None else address(gate_bias), to if up_bias is None else address(up_bias),
            hidden, counters,
        )  # fmt: skip
        bias = to if down_bias is None else address(down_bias)
        down(stream, hidden, address(down_weight), bias, to, beyond(hidden, to_parts), counters)
        return y

    return run


def _gate_up(operands: Operands, tile: Tile, flags: tuple[str, bool], counters: int) -> Enter:
    """Takes a stream and the addresses of x, both weights, both biases, hidden, counters."""
    from rung.glu.kernels.launch import Spec
    from rung.glu.kernels.table import GATE_UP_SIXTEEN

    x, gate_weight, up_weight, gate_bias, up_bias, width = operands
    pdl = dependent_launch(chip(device_index(x)))
    if tile.m > few_rules.SIXTEEN:
        launch = portable.prepare(operands, tile, (*flags, False), counters, pdl).on
        return lambda on, x, g, u, gb, ub, h, counters: launch(on, x, g, u, gb, ub, h, h, h, counters)
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
    ).on


def _down(
    rows: int,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    tile: Tile,
    blocks: int,
    split: tuple[int, int],
) -> Callable[[], Enter]:
    """Begins to compile it. Takes a stream and the addresses of hidden, weight, bias, y, parts, counters."""
    from rung.glu.kernels.launch import Spec
    from rung.glu.kernels.table import DOWN, DOWN_SIXTEEN

    (columns, depth), dtype = weight.shape, weight.dtype
    width = vector_width((weight, bias), depth)
    pdl = dependent_launch(chip(device_index(weight)))
    constants = (precision(dtype), width, tile.m, tile.n, tile.k, tile.stages, pdl)
    kernel = DOWN if tile.m > few_rules.SIXTEEN else DOWN_SIXTEEN
    asked = (
        Spec(dtype, width > 1, constants, tile.warps, tile.stages, pdl),
        device_index(weight),
        blocks,
        (*(dtype,) * 4, torch.float32, torch.int32),
        (rows, columns, depth // width, *steps(weight, width), int(bias is not None), *split),
    )
    kernel.begin(*asked)
    return lambda: kernel.prepare(*asked).on


def _whole_lines(size: int) -> int:
    return -(-size // LINE) * LINE
