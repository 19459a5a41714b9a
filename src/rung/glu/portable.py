"""Preparing the gate-up kernel of masked pointers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from rung.glu.operands import Operands, biases, block, precision, steps
from rung.glu.rules import Tile
from rung.glu.views import device_index

if TYPE_CHECKING:
    from rung.glu.kernels.launch import Prepared


def prepare(
    operands: Operands, tile: Tile, flags: tuple[str, bool, bool], counters: int = 0, pdl: bool = False
) -> Prepared:
    """Takes the addresses of x, both weights, both biases, hidden, gate, up, counters; leaves that many
    counters at zero. `flags`: activation, whether rounding is eager's, whether gate and up are written."""
    from rung.glu.kernels.launch import Spec
    from rung.glu.kernels.table import GATE_UP

    x, gate_weight, up_weight, gate_bias, up_bias, width = operands
    (rows, depth), columns = x.shape, gate_weight.shape[0]
    strides = (*steps(x, width), *steps(gate_weight, width), *steps(up_weight, width))
    constants = (counters > 0, *flags, precision(x.dtype), width, *block(tile), pdl)
    return GATE_UP.prepare(
        Spec(x.dtype, width > 1, constants, tile.warps, tile.stages, pdl),
        device_index(x),
        -(-rows // tile.m) * -(-columns // tile.n),
        (*(x.dtype,) * 8, torch.int32),
        (rows, columns // width, depth // width, *strides, biases(gate_bias, up_bias), counters),
    )
