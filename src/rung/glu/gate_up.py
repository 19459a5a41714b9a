"""Launching the gate-up kernels: which of them, which tile, on which views. Checked arguments, no
autograd."""

from __future__ import annotations

from typing import NamedTuple

import torch

from rung.glu import reference, rules, tma, tuning
from rung.glu.devices import chip, kind_of, why_no_kernel
from rung.glu.operands import Operands, arrange, biases, block, precision, present
from rung.glu.rules import Tile
from rung.glu.views import device_index


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
        tma.launch(operands, choice.tile, flags, hidden, gate, up)
    else:
        _launch_portable(operands, choice.tile, flags, hidden, gate, up, counters)
    return hidden, gate, up


def choose(operands: Operands, save: bool) -> Choice:
    """The kernel and tile for these operands: a tuned one where `tune` left one, else the rules'."""
    rows, columns = operands.x.shape[0], operands.gate_weight.shape[0]
    device = chip(device_index(operands.x))
    kind = kind_of(operands.x.dtype)
    obstacle = tma.why_not(operands, device.capability, kind)
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
    constants = (counters is not None, *flags, precision(x.dtype), width, *block(tile), False)
    strides = [
        stride // width if tensor_dim == 0 else stride
        for tensor in (x, gate_weight, up_weight)
        for tensor_dim, stride in enumerate(tensor.stride())
    ]
    arguments = (
        *(x, gate_weight, up_weight, present(gate_bias, hidden), present(up_bias, hidden)),
        *(hidden, gate, up, present(counters, hidden)),
        *(rows, columns // width, depth // width, *strides, biases(gate_bias, up_bias)),
        0 if counters is None else counters.numel(),
    )
    spec = Spec(x.dtype, width > 1, constants, tile.warps, tile.stages)
    blocks = -(-rows // tile.m) * -(-columns // tile.n)
    GATE_UP.launch(spec, blocks, arguments, device_index(x))
