"""The whole MLP for few rows: two launches and two allocations, no host sync."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from rung.glu import few_rules, memory, portable
from rung.glu.devices import chip, dependent_launch, kind_of
from rung.glu.memory import Make
from rung.glu.operands import arrange, precision
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
            hidden, hidden, hidden, counters,
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
    from rung.glu.kernels.launch import Spec, address, beyond
    from rung.glu.kernels.table import DOWN

    device = chip(device_index(x))
    pdl = dependent_launch(device)
    kind = kind_of(x.dtype)
    operands = arrange(x, gate_weight, up_weight, gate_bias, up_bias)
    rows, (columns, depth) = operands.x.shape[0], down_weight.shape
    down = few_rules.down(kind, rows, tiled_as or columns, device.multiprocessors)
    splits, steps = few_rules.split_k(columns, depth, down, device.multiprocessors)
    counters = -(-columns // down.n)
    gate_up_tile = few_rules.gate_up(kind, rows, tiled_as or depth, device.multiprocessors)
    flags = (activation, rounding == "eager", False)
    width = vector_width((down_weight, down_bias), depth)
    constants = (precision(x.dtype), width, down.m, down.n, down.k, down.stages, pdl)
    h_bytes = _whole_lines(rows * depth * x.element_size())
    part_bytes = _whole_lines(4 * splits * rows * columns if splits > 1 else 0)
    return Plan(
        portable.prepare(operands, gate_up_tile, flags, counters, pdl),
        DOWN.prepare(
            Spec(x.dtype, width > 1, constants, down.warps, down.stages, pdl),
            device_index(x),
            counters * splits,
            (*(x.dtype,) * 4, torch.float32, torch.int32),
            (
                *(rows, columns, depth // width, down_weight.stride(0) // width, down_weight.stride(1)),
                *(int(down_bias is not None), splits, steps),
            ),
        ),
        address,
        beyond,
        memory.prepare((*x.shape[:-1], columns), x.dtype, x.device),
        memory.prepare((h_bytes + part_bytes + _whole_lines(4 * counters),), torch.uint8, x.device),
        h_bytes,
        h_bytes + part_bytes,
    )


def _whole_lines(size: int) -> int:
    return -(-size // LINE) * LINE
