"""Launching the gate-up kernel that loads by TMA: what it can take, and how it sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rung.glu.devices import chip
from rung.glu.operands import Operands, biases, block, precision
from rung.glu.rules import Kind, Tile
from rung.glu.views import device_index

if TYPE_CHECKING:
    from rung.glu.kernels.launch import Launch

FARTHEST = 1 << 40
"""A TMA stride holds distances below this many bytes."""


def why_not(operands: Operands, capability: tuple[int, int], kind: Kind) -> str | None:
    """Why the TMA kernel cannot take these operands, or None where it can."""
    x, gate, up = operands[:3]
    distance = abs(up.data_ptr() - gate.data_ptr())
    if capability[0] != 9:
        return f"sm_{capability[0]}{capability[1]} takes the portable path"
    if kind == "ieee":
        return "fp32 without tf32 has no tensor cores"
    if operands.width == 1:
        return "an address, a stride or a size is no multiple of 16 bytes"
    if gate.stride(0) != up.stride(0) or not 0 < distance < FARTHEST:
        return "gate and up are no two halves of one tensor map"
    if x.stride(0) < x.shape[1] or gate.stride(0) < x.shape[1]:
        return "rows overlap"
    return None


def prepare(operands: Operands, tile: Tile, flags: tuple[str, bool, bool]) -> Launch:
    """Takes the addresses of x, both weights, both biases, hidden, gate, up; more is passed over."""
    from rung.glu.kernels.launch import Map, Spec
    from rung.glu.kernels.table import GATE_UP_TMA

    x, gate_weight, up_weight, gate_bias, up_bias, width = operands
    (rows, depth), columns, dtype = x.shape, gate_weight.shape[0], x.dtype
    swapped = up_weight.data_ptr() < gate_weight.data_ptr()
    distance = abs(up_weight.data_ptr() - gate_weight.data_ptr()) // x.element_size()
    programs = min(-(-rows // tile.m) * -(-columns // tile.n), chip(device_index(x)).multiprocessors)
    written = Map(dtype, (rows, columns), (columns, 1), (tile.m, tile.n))
    weights = Map(dtype, (2, columns, depth), (distance, gate_weight.stride(0), 1), (2, tile.n, tile.k))
    saved = (written, written) if flags[2] else (dtype, dtype)
    added = (up_bias, gate_bias) if swapped else (gate_bias, up_bias)
    launch = GATE_UP_TMA.prepare(
        Spec(dtype, True, (*flags, precision(dtype), width, *block(tile)), tile.warps, tile.stages),
        device_index(x),
        programs,
        (
            Map(dtype, (rows, depth), (x.stride(0), 1), (tile.m, tile.k)),
            weights,
            written,
            *saved,
            dtype,
            dtype,
        ),
        (rows, columns // width, depth // width, biases(*added), int(swapped), programs),
    )

    def in_order(
        x: int, gate: int, up: int, gate_bias: int, up_bias: int, h: int, g: int, u: int, *_: int
    ) -> None:
        if swapped:
            launch(x, up, h, u, g, up_bias, gate_bias)
        else:
            launch(x, gate, h, g, u, gate_bias, up_bias)

    return in_order
