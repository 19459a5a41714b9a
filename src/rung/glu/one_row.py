"""The whole MLP for one row: two launches and two allocations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from rung.glu import few_rules, memory
from rung.glu.devices import chip, dependent_launch
from rung.glu.memory import Make
from rung.glu.operands import arrange, biases, steps
from rung.glu.views import device_index, vector_width

if TYPE_CHECKING:
    from rung.glu.kernels.launch import Launch


class Plan(NamedTuple):
    """Both kernels and both allocations prepared."""

    gate_up: Launch
    down: Launch
    address: Callable[[torch.Tensor], Any]
    hidden: Make
    y: Make

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
        y, h = self.y(), self.hidden()
        hidden, to = address(h), address(y)
        self.gate_up(
            address(x), address(gate_weight), address(up_weight),
            to if gate_bias is None else address(gate_bias), to if up_bias is None else address(up_bias),
            hidden,
        )  # fmt: skip
        self.down(hidden, address(down_weight), to if down_bias is None else address(down_bias), to)
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
    """How a call like this one, with one row, runs. No dimension is zero.

    `tiled_as` lets the rules choose strips for so many input and output features.
    """
    from rung.glu.kernels.launch import Spec, address
    from rung.glu.kernels.table import DOWN_ROW, GATE_UP_ROW

    operands = arrange(x, gate_weight, up_weight, gate_bias, up_bias)
    dtype, device, width = x.dtype, device_index(x), operands.width
    pdl = dependent_launch(chip(device))
    hidden_features, in_features = gate_weight.shape
    out_features = down_weight.shape[0]
    flags = (activation, rounding == "eager")
    strip = few_rules.gate_up_strip(tiled_as or in_features)
    gate_up = GATE_UP_ROW.prepare(
        Spec(dtype, width > 1, (*flags, width, strip.n, strip.k, pdl), strip.warps, 1, pdl),
        device,
        -(-hidden_features // strip.n),
        (dtype,) * 6,
        (
            *(hidden_features // width, in_features // width, operands.x.stride(1)),
            *(*steps(gate_weight, width), *steps(up_weight, width), biases(gate_bias, up_bias)),
        ),
    )
    width = vector_width((down_weight, down_bias), hidden_features)
    strip = few_rules.down_strip(tiled_as or out_features, chip(device).multiprocessors)
    down = DOWN_ROW.prepare(
        Spec(dtype, width > 1, (width, strip.n, strip.k, pdl), strip.warps, 1, pdl),
        device,
        -(-out_features // strip.n),
        (dtype,) * 4,
        (out_features, hidden_features // width, *steps(down_weight, width), int(down_bias is not None)),
    )
    hidden = memory.prepare((hidden_features,), dtype, x.device)
    return Plan(
        gate_up, down, address, hidden, memory.prepare((*x.shape[:-1], out_features), dtype, x.device)
    )
