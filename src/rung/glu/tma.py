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
MOST_DISTANCES = 256


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
    """Takes the addresses of x, both weights, both biases, hidden, gate, up; more is passed over.

    Which weight lies lower, and how far from the other, is part of their map: found out at each launch.
    """
    from rung.glu.kernels.launch import Map, Spec
    from rung.glu.kernels.table import GATE_UP_TMA

    x, gate_weight, _, gate_bias, up_bias, width = operands
    (rows, depth), columns, dtype, size = x.shape, gate_weight.shape[0], x.dtype, x.element_size()
    device, row = device_index(x), gate_weight.stride(0)
    programs = min(-(-rows // tile.m) * -(-columns // tile.n), chip(device).multiprocessors)
    spec = Spec(dtype, True, (*flags, precision(dtype), width, *block(tile)), tile.warps, tile.stages)
    seen = Map(dtype, (rows, depth), (x.stride(0), 1), (tile.m, tile.k))
    written = Map(dtype, (rows, columns), (columns, 1), (tile.m, tile.n))
    saved = (written, written) if flags[2] else (dtype, dtype)
    present = {False: biases(gate_bias, up_bias), True: biases(up_bias, gate_bias)}
    prepared: dict[int, Launch] = {}

    def at(distance: int) -> Launch:
        strides = (abs(distance), row, 1)
        operands = (seen, Map(dtype, (2, columns, depth), strides, (2, tile.n, tile.k)), written)
        swapped = distance < 0
        numbers = (rows, columns // width, depth // width, present[swapped], int(swapped), programs)
        return GATE_UP_TMA.prepare(spec, device, programs, (*operands, *saved, dtype, dtype), numbers)

    def launch(
        x: int, gate: int, up: int, gate_bias: int, up_bias: int, h: int, g: int, u: int, *_: int
    ) -> None:
        distance = (up - gate) // size
        one = prepared.get(distance)
        if one is None:
            if len(prepared) >= MOST_DISTANCES:
                prepared.clear()
            one = prepared[distance] = at(distance)
        if distance < 0:
            one(x, up, h, u, g, up_bias, gate_bias)
        else:
            one(x, gate, h, g, u, gate_bias, up_bias)

    return launch
