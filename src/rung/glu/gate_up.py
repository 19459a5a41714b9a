"""The gate-up product: which kernel, which tile; a plan of it and the calls that follow it. Arguments are
checked, autograd is not here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from rung.glu import few_rules, hopper, memory, plans, portable, reference, rules, tma, tuning
from rung.glu.devices import chip, kind_of, why_no_kernel
from rung.glu.memory import Make
from rung.glu.operands import Operands, arrange
from rung.glu.rules import Tile
from rung.glu.views import device_index, fold

if TYPE_CHECKING:
    from rung.glu.kernels.launch import Launch

Results = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


_PREPARE = {"hopper": hopper.prepare, "tma": tma.prepare, "portable": portable.prepare}


class Choice(NamedTuple):
    """A kernel (`hopper`, `tma` or `portable`), its tile, and why."""

    kernel: str
    tile: Tile
    reason: str


class Plan(NamedTuple):
    """A prepared kernel; what makes a tensor like h; whether gate and up are written too, and whether x has
    to be copied first."""

    launch: Launch
    address: Callable[[torch.Tensor], Any]
    make: Make
    save: bool
    copied: bool

    def run(
        self,
        x: torch.Tensor,
        gate_weight: torch.Tensor,
        up_weight: torch.Tensor,
        gate_bias: torch.Tensor | None,
        up_bias: torch.Tensor | None,
    ) -> Results:
        """(h, gate, up); the last two are h itself unless they are written."""
        address, hidden = self.address, self.make()
        gate, up = (self.make(), self.make()) if self.save else (hidden, hidden)
        to = address(hidden)
        self.launch(
            address(fold(x) if self.copied else x), address(gate_weight), address(up_weight),
            to if gate_bias is None else address(gate_bias), to if up_bias is None else address(up_bias),
            to, address(gate), address(up), to,
        )  # fmt: skip
        return hidden, gate, up


def gate_up(
    x: torch.Tensor,
    gate_weight: torch.Tensor,
    up_weight: torch.Tensor,
    gate_bias: torch.Tensor | None,
    up_bias: torch.Tensor | None,
    activation: str,
    rounding: str,
    save: bool,
) -> Results:
    """(h, gate, up), each [..., N] in the dtype of x; gate and up are empty unless `save`."""
    tensors = (x, gate_weight, up_weight, gate_bias, up_bias)
    if why_no_kernel(x.device, x.dtype) or not (x.numel() and gate_weight.numel()):
        h, gate, up = reference.gate_up(*tensors, activation, rounding)
    else:
        where = plans.key(*tensors, activation, rounding, save)
        found: Plan = plans.find(where) or plans.keep(where, plan(*tensors, activation, rounding, save))
        h, gate, up = found.run(*tensors)
    return (h, gate, up) if save else (h, x.new_empty(0), x.new_empty(0))


def plan(
    x: torch.Tensor,
    gate_weight: torch.Tensor,
    up_weight: torch.Tensor,
    gate_bias: torch.Tensor | None,
    up_bias: torch.Tensor | None,
    activation: str,
    rounding: str,
    save: bool,
    choice: Choice | None = None,
) -> Plan:
    """How a call like this one runs. No dimension is zero. `choice` overrides the rules."""
    from rung.glu.kernels.launch import address

    operands = arrange(x, gate_weight, up_weight, gate_bias, up_bias)
    kernel, tile, _ = choice or choose(operands, save)
    launch = _PREPARE[kernel](operands, tile, (activation, rounding == "eager", save))
    make = memory.prepare((*x.shape[:-1], gate_weight.shape[0]), x.dtype, x.device)
    return Plan(launch, address, make, save, operands.x.data_ptr() != x.data_ptr())


def choose(operands: Operands, save: bool) -> Choice:
    """The kernel and tile for these operands: a tuned one where `tune` left one, else the rules'."""
    rows, columns = operands.x.shape[0], operands.gate_weight.shape[0]
    device = chip(device_index(operands.x))
    kind = kind_of(operands.x.dtype)
    kernel, reason = best(operands)
    if rows <= few_rules.FEW_ROWS and (not save or kernel == "portable"):
        tile = few_rules.gate_up(kind, few_rules.FEW_ROWS, columns, device.multiprocessors, operands.width)
        return Choice("portable", tile, f"at most {few_rules.FEW_ROWS} rows")
    tuned = tuning.find(device.name, kernel, kind, save, rows, *operands.gate_weight.shape)
    if tuned is not None:
        return Choice(kernel, tuned, f"{reason}; tile tuned")
    tiles = rules.tiles(kernel, kind, operands.width, save, operands.x.shape[1])
    return Choice(kernel, rules.choose(tiles, rows, columns, device.multiprocessors), reason)


def best(operands: Operands) -> tuple[str, str]:
    """The best kernel for many rows that can take these operands, and why none better."""
    capability, kind = chip(device_index(operands.x)).capability, kind_of(operands.x.dtype)
    obstacle = hopper.why_not(operands, capability, kind)
    if obstacle is None:
        return "hopper", "sm_90, aligned 2-byte floats"
    worse = tma.why_not(operands, capability, kind)
    return ("tma", obstacle) if worse is None else ("portable", worse)
