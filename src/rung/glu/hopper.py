"""Preparing the Gluon kernels of sm_90: what they can take, and how they see it."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

import torch

from rung.glu import rules
from rung.glu.devices import INTERPRETED, chip
from rung.glu.operands import Operands, biases, block
from rung.glu.rules import Kind, Tile
from rung.glu.views import device_index

if TYPE_CHECKING:
    from rung.glu.kernels.launch import Launch, Map, Request, Spec

KNOWN = ("3.6.", "3.7.", "3.8.", "3.9.")
"""Gluon is an experimental part of Triton: the versions these kernels compile with. All but 3.7 ran on a
GPU."""
REGISTERS = 168
"""What 384 threads may have at entry; consumers then take 240 each, the producer 24."""
BOX = 64
"""Rows of a TMA box: those that one wgmma multiplies."""
PIECES = 4
"""Parts of a tile's width that the epilogue of `down_backward` takes one by one."""


def why_not(operands: Operands, capability: tuple[int, int], kind: Kind) -> str | None:
    """Why the Gluon gate-up kernel cannot take these operands, or None where it can."""
    obstacle = why_no_gluon(capability, kind, operands.width)
    if obstacle is None and any(t.stride(0) < t.shape[1] for t in operands[:3]):
        return "rows overlap"
    return obstacle


@cache
def why_no_gluon(capability: tuple[int, int], kind: Kind, width: int) -> str | None:
    """Why no Gluon kernel runs there for such numbers and a `vector_width` of `width`, or None."""
    if capability[0] != 9:
        return f"sm_{capability[0]}{capability[1]} takes the portable path"
    if kind != "half":
        return "the Gluon kernels are for 2-byte floats"
    if width == 1:
        return "an address, a stride or a size is no multiple of 16 bytes"
    if INTERPRETED:
        return "Triton's interpreter does not run Gluon"
    version = importlib.import_module("triton").__version__
    return None if version.startswith(KNOWN) else f"Gluon of Triton {version} is not known"


def prepare(operands: Operands, tile: Tile, flags: tuple[str, bool, bool]) -> Launch:
    """Takes the addresses of x, both weights, both biases, hidden, gate, up; more is passed over."""
    from rung.glu.kernels.table_hopper import GATE_UP_HOPPER

    x, gate_weight, up_weight, gate_bias, up_bias, width = operands
    (rows, depth), columns, dtype = x.shape, gate_weight.shape[0], x.dtype
    written = _map(dtype, (rows, columns), columns, (BOX, tile.n))
    asked = (
        device_index(x),
        _programs(rows, columns, tile, x),
        (
            _map(dtype, (rows, depth), x.stride(0), (BOX, tile.k)),
            *(_map(dtype, (columns, depth), w.stride(0), (tile.n, tile.k)) for w in (gate_weight, up_weight)),
            *(written, written, written),
            *(dtype, dtype),
        ),
        (rows, columns // width, depth, biases(gate_bias, up_bias), tile.group),
    )

    def spec(tile: Tile) -> Spec:
        return _spec(dtype, (*flags, *block(tile)[:-1]), tile)

    for other in rules.hopper(depth):  # another number of rows will ask for those with the same boxes
        if other != tile and (other.n, other.k) == (tile.n, tile.k):
            GATE_UP_HOPPER.begin(spec(other), *asked)
    launch = GATE_UP_HOPPER.prepare(spec(tile), *asked)

    def in_order(
        x: int,
        gate_weight: int,
        up_weight: int,
        gate_bias: int,
        up_bias: int,
        h: int,
        g: int,
        u: int,
        *_: int,
    ) -> None:
        launch(x, gate_weight, up_weight, h, g, u, gate_bias, up_bias)

    return in_order


def down_backward(
    grad: torch.Tensor,
    down_weight: torch.Tensor,
    gate: torch.Tensor,
    up: torch.Tensor,
    activation: str,
    tile: Tile,
) -> Request:
    """Takes the addresses of grad [M, D], down_weight [D, N], gate and up [M, N], and of the two halves of
    the gradient [M, 2 N]."""
    from rung.glu.kernels.launch import Request
    from rung.glu.kernels.table_hopper import DOWN_BACKWARD_HOPPER

    (rows, depth), columns, dtype = grad.shape, gate.shape[1], grad.dtype
    strides = (gate.stride(0), up.stride(0), 2 * columns, 2 * columns)
    return Request(
        DOWN_BACKWARD_HOPPER,
        _spec(dtype, (activation, *block(tile)), tile),
        device_index(down_weight),
        _programs(rows, columns, tile, down_weight),
        (
            _map(dtype, (rows, depth), grad.stride(0), (BOX, tile.k)),
            _map(dtype, (depth, columns), down_weight.stride(0), (tile.k, tile.n)),
            *(_map(dtype, (rows, columns), row, (BOX, tile.n // PIECES)) for row in strides),
        ),
        (rows, columns // (16 // dtype.itemsize), depth),
    )


def gate_up_backward(
    grad_gate: torch.Tensor,
    grad_up: torch.Tensor,
    gate_weight: torch.Tensor,
    up_weight: torch.Tensor,
    tile: Tile,
) -> Request:
    """Takes the addresses of the gradients [M, N], the weights [N, K], and of the gradient for x [M, K]."""
    from rung.glu.kernels.launch import Request
    from rung.glu.kernels.table_hopper import GATE_UP_BACKWARD_HOPPER

    (rows, depth), columns, dtype = grad_gate.shape, gate_weight.shape[1], grad_gate.dtype
    return Request(
        GATE_UP_BACKWARD_HOPPER,
        _spec(dtype, block(tile), tile),
        device_index(gate_weight),
        _programs(rows, columns, tile, gate_weight),
        (
            *(_map(dtype, (rows, depth), g.stride(0), (BOX, tile.k)) for g in (grad_gate, grad_up)),
            *(_map(dtype, (depth, columns), w.stride(0), (tile.k, tile.n)) for w in (gate_weight, up_weight)),
            _map(dtype, (rows, columns), columns, (BOX, tile.n // 2)),
        ),
        (rows, columns // (16 // dtype.itemsize), depth),
    )


def _map(dtype: torch.dtype, shape: tuple[int, int], row: int, box: tuple[int, int]) -> Map:
    from triton.experimental.gluon import language as gl

    from rung.glu.kernels.launch import Map

    kind = {torch.bfloat16: gl.bfloat16, torch.float16: gl.float16}[dtype]
    return Map(dtype, shape, (row, 1), box, gl.NVMMASharedLayout.get_default_for(list(box), kind))


def _spec(dtype: torch.dtype, constants: tuple[object, ...], tile: Tile) -> Spec:
    from rung.glu.kernels.launch import Spec

    return Spec(dtype, True, constants, tile.warps, tile.stages, registers=REGISTERS)


def _programs(rows: int, columns: int, tile: Tile, tensor: torch.Tensor) -> int:
    """One for each tile, at most one for each multiprocessor: they are persistent."""
    blocks = -(-rows // tile.m) * -(-columns // tile.n)
    return min(blocks, chip(device_index(tensor)).multiprocessors)
