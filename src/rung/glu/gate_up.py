"""Launching the gate-up kernels: which of them, which tile, on which views. Checked arguments, no
autograd."""

from __future__ import annotations

from typing import NamedTuple

import torch

from rung.glu import reference, rules, tuning
from rung.glu.devices import chip, kind_of, why_no_kernel
from rung.glu.rules import Kind, Tile
from rung.glu.views import device_index, fold, vector_width

FARTHEST = 1 << 40
"""A TMA stride holds distances below this many bytes."""


class Operands(NamedTuple):
    """x [M, K], weights [N, K], biases [N] or None, and the `vector_width` they allow."""

    x: torch.Tensor
    gate_weight: torch.Tensor
    up_weight: torch.Tensor
    gate_bias: torch.Tensor | None
    up_bias: torch.Tensor | None
    width: int


class Choice(NamedTuple):
    """A kernel (`tma` or `portable`), its tile, and why."""

    kernel: str
    tile: Tile
    reason: str


def gate_up(
    x: torch.Tensor,
    gate_weight: torch.Tensor,
    up_weight: torch.Tensor,
    gate_bias: torch.Tensor | None,
    up_bias: torch.Tensor | None,
    activation: str,
    rounding: str,
    save: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(h, gate, up), each [..., N] in the dtype of x; gate and up are empty unless `save`."""
    h, gate, up = run(x, gate_weight, up_weight, gate_bias, up_bias, activation, rounding, save)
    return (h, gate, up) if save else (h, x.new_empty(0), x.new_empty(0))


def run(
    x: torch.Tensor,
    gate_weight: torch.Tensor,
    up_weight: torch.Tensor,
    gate_bias: torch.Tensor | None,
    up_bias: torch.Tensor | None,
    activation: str,
    rounding: str,
    save: bool,
    counters: torch.Tensor | None = None,
    choice: Choice | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """`gate_up`, but gate and up are no tensors of their own unless `save`: an allocation costs 4 µs.

    Leaves `counters` (int32), where given, at zero. `choice` overrides the rules.
    """
    hidden_features = gate_weight.shape[0]
    shape = (*x.shape[:-1], hidden_features)
    if why_no_kernel(x.device, x.dtype) or not (x.numel() and hidden_features):
        return reference.gate_up(x, gate_weight, up_weight, gate_bias, up_bias, activation, rounding)
    operands = arrange(x, gate_weight, up_weight, gate_bias, up_bias)
    choice = choice or choose(operands, save)
    hidden = torch.empty(shape, dtype=x.dtype, device=x.device)
    gate = torch.empty_like(hidden) if save else hidden
    up = torch.empty_like(hidden) if save else hidden
    flags = (activation, rounding == "eager", save)
    if choice.kernel == "tma":
        _launch_tma(operands, choice.tile, flags, hidden, gate, up)
    else:
        _launch_portable(operands, choice.tile, flags, hidden, gate, up, counters)
    return hidden, gate, up


def arrange(
    x: torch.Tensor,
    gate_weight: torch.Tensor,
    up_weight: torch.Tensor,
    gate_bias: torch.Tensor | None,
    up_bias: torch.Tensor | None,
) -> Operands:
    """The operands with x folded to two dimensions."""
    x = fold(x)
    tensors = (x, gate_weight, up_weight, gate_bias, up_bias)
    return Operands(*tensors, vector_width(tensors, *gate_weight.shape))


def choose(operands: Operands, save: bool) -> Choice:
    """The kernel and tile for these operands: a tuned one where `tune` left one, else the rules'."""
    rows, columns = operands.x.shape[0], operands.gate_weight.shape[0]
    device = chip(device_index(operands.x))
    kind = kind_of(operands.x.dtype)
    obstacle = why_no_tma(operands, device.capability, kind)
    if rows <= rules.FEW_ROWS and (not save or obstacle):
        tile = rules.few(kind, rows, columns, device.multiprocessors)
        return Choice("portable", tile, f"at most {rules.FEW_ROWS} rows")
    kernel = "portable" if obstacle else "tma"
    reason = obstacle or "sm_90, aligned operands"
    tuned = tuning.find(device.name, kernel, kind, save, rows, *operands.gate_weight.shape)
    if tuned is not None:
        return Choice(kernel, tuned, f"{reason}; tile tuned")
    tiles = rules.portable(kind, operands.width) if obstacle else rules.tma(kind, save)
    return Choice(kernel, rules.choose(tiles, rows, columns, device.multiprocessors), reason)


def why_no_tma(operands: Operands, capability: tuple[int, int], kind: Kind) -> str | None:
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


def _launch_portable(
    operands: Operands,
    tile: Tile,
    flags: tuple[str, bool, bool],
    hidden: torch.Tensor,
    gate: torch.Tensor,
    up: torch.Tensor,
    counters: torch.Tensor | None,
) -> None:
    from rung.glu.kernels.launch import Spec
    from rung.glu.kernels.table import GATE_UP

    x, gate_weight, up_weight, gate_bias, up_bias, width = operands
    (rows, depth), columns = x.shape, gate_weight.shape[0]
    constants = (counters is not None, *flags, precision(x.dtype), width, *_block(tile))
    strides = [
        stride // width if tensor_dim == 0 else stride
        for tensor in (x, gate_weight, up_weight)
        for tensor_dim, stride in enumerate(tensor.stride())
    ]
    arguments = (
        *(x, gate_weight, up_weight, _or(gate_bias, hidden), _or(up_bias, hidden)),
        *(hidden, gate, up, _or(counters, hidden)),
        *(rows, columns // width, depth // width, *strides, biases(gate_bias, up_bias)),
        0 if counters is None else counters.numel(),
    )
    spec = Spec(x.dtype, width > 1, constants, tile.warps, tile.stages)
    blocks = -(-rows // tile.m) * -(-columns // tile.n)
    GATE_UP.launch(spec, blocks, arguments, device_index(x))


def _launch_tma(
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
    block = [tile.m, tile.n]

    def output(tensor: torch.Tensor) -> TensorDescriptor:
        return TensorDescriptor(tensor, [rows, columns], [columns, 1], block)

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
        *(_or(added[0], hidden), _or(added[1], hidden)),
        *(rows, columns // width, depth // width, biases(*added), int(swapped), programs),
    )
    spec = Spec(x.dtype, True, (*flags, precision(x.dtype), width, *_block(tile)), tile.warps, tile.stages)
    GATE_UP_TMA.launch(spec, programs, arguments, device_index(x))


def precision(dtype: torch.dtype) -> str:
    """What tl.dot is to multiply in; of no consequence for 2-byte floats."""
    return "ieee" if kind_of(dtype) == "ieee" else "tf32"


def biases(first: torch.Tensor | None, second: torch.Tensor | None) -> int:
    """Which of the two are there, as bits."""
    return (first is not None) + 2 * (second is not None)


def _block(tile: Tile) -> tuple[int, ...]:
    return tile.m, tile.n, tile.k, tile.stages, tile.group


def _or(tensor: torch.Tensor | None, stand_in: torch.Tensor) -> torch.Tensor:
    return stand_in if tensor is None else tensor
