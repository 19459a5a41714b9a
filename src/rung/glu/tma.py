"""Launching the gate-up kernel that loads by TMA: what it can take, and how it sees it."""

from __future__ import annotations

import torch

from rung.glu.devices import chip
from rung.glu.operands import Operands, biases, block, precision, present
from rung.glu.rules import Kind, Tile
from rung.glu.views import device_index

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


def launch(
    operands: Operands,
    tile: Tile,
    flags: tuple[str, bool, bool],
    hidden: torch.Tensor,
    gate: torch.Tensor,
    up: torch.Tensor,
) -> None:
    from triton.tools.tensor_descriptor import TensorDescriptor

    from rung.glu.kernels.launch import Spec
    from rung.glu.kernels.table import GATE_UP_TMA

    x, gate_weight, up_weight, gate_bias, up_bias, width = operands
    (rows, depth), columns = x.shape, gate_weight.shape[0]
    swapped = up_weight.data_ptr() < gate_weight.data_ptr()
    low = up_weight if swapped else gate_weight
    distance = abs(up_weight.data_ptr() - gate_weight.data_ptr()) // x.element_size()
    box = [tile.m, tile.n]

    def output(tensor: torch.Tensor) -> TensorDescriptor:
        return TensorDescriptor(tensor, [rows, columns], [columns, 1], box)

    # A map is 5 µs of launch: none is made for what is not written.
    saved = (output(gate), output(up)) if flags[2] else (hidden, hidden)
    added = (gate_bias, up_bias)
    if swapped:
        saved, added = saved[::-1], added[::-1]
    programs = min(-(-rows // tile.m) * -(-columns // tile.n), chip(device_index(x)).multiprocessors)
    arguments = (
        TensorDescriptor(x, [rows, depth], [x.stride(0), 1], [tile.m, tile.k]),
        TensorDescriptor(low, [2, columns, depth], [distance, low.stride(0), 1], [2, tile.n, tile.k]),
        output(hidden),
        *saved,
        *(present(added[0], hidden), present(added[1], hidden)),
        *(rows, columns // width, depth // width, biases(*added), int(swapped), programs),
    )
    spec = Spec(x.dtype, True, (*flags, precision(x.dtype), width, *block(tile)), tile.warps, tile.stages)
    GATE_UP_TMA.launch(spec, programs, arguments, device_index(x))
