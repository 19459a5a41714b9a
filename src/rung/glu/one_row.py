"""The whole MLP for one row: two launches and two allocations."""

from __future__ import annotations

import torch

from rung.glu import few_rules, memory
from rung.glu.devices import chip, current_device, dependent_launch, stream_of
from rung.glu.operands import Run, Tensors, arrange, biases, steps
from rung.glu.views import device_index, vector_width


def plan(tensors: Tensors, activation: str, rounding: str, tiled_as: int | None = None) -> Run:
    """How a call like this one, with one row, runs. No dimension is zero.

    `tiled_as` lets the rules choose strips for so many input and output features.
    """
    from rung.glu.kernels.launch import Spec, address
    from rung.glu.kernels.table import DOWN_ROW, GATE_UP_ROW

    x, gate_weight, up_weight, down_weight, gate_bias, up_bias, down_bias = tensors
    operands = arrange(x, gate_weight, up_weight, gate_bias, up_bias)
    dtype, device, width = x.dtype, device_index(x), operands.width
    pdl = dependent_launch(chip(device))
    hidden_features, in_features = gate_weight.shape
    out_features = down_weight.shape[0]
    flags = (activation, rounding == "eager")
    down_width = vector_width((down_weight, down_bias), hidden_features)
    strip = few_rules.down_strip(tiled_as or out_features, chip(device).multiprocessors)
    down_asked = (
        Spec(dtype, down_width > 1, (down_width, strip.n, strip.k, pdl), strip.warps, 1, pdl),
        device,
        -(-out_features // strip.n),
        (dtype,) * 4,
        (
            *(out_features, hidden_features // down_width),
            *(*steps(down_weight, down_width), int(down_bias is not None)),
        ),
    )
    DOWN_ROW.begin(*down_asked)
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
    ).on
    down = DOWN_ROW.prepare(*down_asked).on
    make_hidden = memory.on_current((hidden_features,), dtype, x.device)
    make_y = memory.on_current((*x.shape[:-1], out_features), dtype, x.device)

    def run(tensors: Tensors) -> torch.Tensor:
        if current_device() != device:
            with torch.cuda.device(device):
                return run(tensors)
        x, gate_weight, up_weight, down_weight, gate_bias, up_bias, down_bias = tensors
        stream, y, h = stream_of(device), make_y(), make_hidden()
        hidden, to = address(h), address(y)
        gate_up(
            stream, address(x), address(gate_weight), address(up_weight),
            to if gate_bias is None else address(gate_bias), to if up_bias is None else address(up_bias),
            hidden,
        )  # fmt: skip
        down(stream, hidden, address(down_weight), to if down_bias is None else address(down_bias), to)
        return y

    return run
