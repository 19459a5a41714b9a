"""The MLP with gradients: what forward keeps, and backward's two kernels of its own. Checked arguments, no
autograd."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from rung.glu import hopper, memory, plans, pointwise, rules
from rung.glu.devices import chip, kind_of, why_no_kernel
from rung.glu.gate_up import Plan, gate_up
from rung.glu.rules import Tile
from rung.glu.views import device_index, vector_width

Kept = tuple[Tensor, Tensor, Tensor, Tensor]
Run = Callable[..., Tensor]
"""A part of backward as it runs for tensors of one geometry."""


def forward(
    x: Tensor,
    gate_weight: Tensor,
    up_weight: Tensor,
    down_weight: Tensor,
    gate_bias: Tensor | None,
    up_bias: Tensor | None,
    down_bias: Tensor | None,
    activation: str,
    rounding: str,
    keep: bool,
) -> Kept:
    """(y, hidden, gate, up); the last three, [..., N] each, are empty unless `keep`."""
    hidden, gate, up = gate_up(x, gate_weight, up_weight, gate_bias, up_bias, activation, rounding, keep)
    y = functional.linear(hidden, down_weight, down_bias)
    return (y, hidden, gate, up) if keep else (y, x.new_empty(0), x.new_empty(0), x.new_empty(0))


def planned_forward(plan: Plan, tensors: tuple[Any, ...], keep: bool) -> Kept:
    """The same with the gate-up kernel's plan at hand, of x, three weights, three biases or None."""
    x, gate_weight, up_weight, down_weight, gate_bias, up_bias, down_bias = tensors
    hidden, gate, up = plan.run(x, gate_weight, up_weight, gate_bias, up_bias)
    y = functional.linear(hidden, down_weight, down_bias)
    return (y, hidden, gate, up) if keep else (y, *(x.new_empty(0) for _ in range(3)))


def down_backward(grad: Tensor, down_weight: Tensor, gate: Tensor, up: Tensor, activation: str) -> Tensor:
    """The gradients of gate and up, side by side [M, 2 N], from that of y = down(act(gate) * up).

    `grad` [M, D], `down_weight` [D, N], `gate` and `up` [M, N].
    """
    tensors = (grad, down_weight, gate, up)
    where = ("down-backward", activation, *map(plans.of, tensors))
    run: Run = plans.find(where) or plans.keep(where, _through_down(*tensors, activation))
    return run(*tensors)


def gate_up_backward(both: Tensor, gate_weight: Tensor, up_weight: Tensor) -> Tensor:
    """The gradient of x [M, K] from those of gate and up.

    `both` holds them side by side [M, 2 N], `gate_weight` and `up_weight` are [N, K].
    """
    tensors = (both, gate_weight, up_weight)
    where = ("gate-up-backward", *map(plans.of, tensors))
    run: Run = plans.find(where) or plans.keep(where, _through_gate_up(*tensors))
    return run(*tensors)


def prepare(hidden: Tensor, up_weight: Tensor, down_weight: Tensor, activation: str) -> None:
    """Prepares every kernel that backward may choose for tensors like these: for warming."""
    grad = hidden.new_empty((hidden.shape[0], down_weight.shape[0]))
    if _why_no_gluon(down_weight, grad, hidden) is None:
        for tile in rules.down_backward():
            _down_backward(grad, down_weight, hidden, hidden, activation, tile)
        both = hidden.new_empty((hidden.shape[0], 2 * hidden.shape[1]))
        _gate_up_backward(both, up_weight, up_weight, rules.GATE_UP_BACKWARD)


def begin(x: Tensor, gate_weight: Tensor, up_weight: Tensor, down_weight: Tensor, activation: str) -> None:
    """Begins to compile the Gluon kernels that backward will ask for, while forward's is compiled."""
    if not any(tensor.requires_grad for tensor in (x, gate_weight, up_weight)):
        return
    like = partial(torch.empty, dtype=x.dtype, device="meta")
    rows, hidden = math.prod(x.shape[:-1]), gate_weight.shape[0]
    grad, gate, both = (like(rows, columns) for columns in (down_weight.shape[0], hidden, 2 * hidden))
    tile = _through_down_tile(grad, down_weight, gate, gate)
    if tile is not None:
        hopper.down_backward(grad, down_weight, gate, gate, activation, tile).begin()
    grad_gate, grad_up = both.chunk(2, dim=1)
    tile = _through_gate_up_tile(grad_gate, grad_up, gate_weight, up_weight)
    if tile is not None and x.requires_grad:
        hopper.gate_up_backward(grad_gate, grad_up, gate_weight, up_weight, tile).begin()


def _why_no_gluon(weight: Tensor, *others: Tensor) -> str | None:
    """Why no Gluon kernel can take these matrices, or None where one can."""
    matrices = (weight, *others)
    if not all(matrix.numel() for matrix in matrices):
        return "a dimension is zero"
    obstacle = why_no_kernel(weight.device, weight.dtype)
    if obstacle is not None:
        return obstacle
    if any(matrix.stride(0) < matrix.shape[1] for matrix in matrices):
        return "rows overlap"
    width = vector_width(matrices, *(matrix.shape[1] for matrix in matrices))
    return hopper.why_no_gluon(chip(device_index(weight)).capability, kind_of(weight.dtype), width)


def _through_down_tile(grad: Tensor, down_weight: Tensor, gate: Tensor, up: Tensor) -> Tile | None:
    """The tile of the one kernel, or None where it takes two."""
    if _why_no_gluon(down_weight, grad, gate, up) is not None:
        return None
    return rules.choose(rules.down_backward(), *gate.shape, chip(device_index(down_weight)).multiprocessors)


def _through_gate_up_tile(
    grad_gate: Tensor, grad_up: Tensor, gate_weight: Tensor, up_weight: Tensor
) -> Tile | None:
    """The tile of the one kernel, or None where two products are quicker or all that can be."""
    if _why_no_gluon(gate_weight, up_weight, grad_gate, grad_up) is not None:
        return None
    depth, columns = gate_weight.shape
    multiprocessors = chip(device_index(gate_weight)).multiprocessors
    return rules.gate_up_backward(grad_gate.shape[0], columns, depth, multiprocessors)


def _through_down(grad: Tensor, down_weight: Tensor, gate: Tensor, up: Tensor, activation: str) -> Run:
    tile = _through_down_tile(grad, down_weight, gate, up)
    if tile is not None:
        return _down_backward(grad, down_weight, gate, up, activation, tile)
    return lambda grad, down_weight, gate, up: pointwise.glu_backward_side_by_side(
        grad @ down_weight, gate, up, activation
    )


def _through_gate_up(both: Tensor, gate_weight: Tensor, up_weight: Tensor) -> Run:
    grad_gate, grad_up = both.chunk(2, dim=1)
    tile = _through_gate_up_tile(grad_gate, grad_up, gate_weight, up_weight)
    return _two_products if tile is None else _gate_up_backward(both, gate_weight, up_weight, tile)


def _two_products(both: Tensor, gate_weight: Tensor, up_weight: Tensor) -> Tensor:
    """The library's, the sum in the second one's epilogue."""
    grad_gate, grad_up = both.chunk(2, dim=1)
    return (grad_gate @ gate_weight).addmm_(grad_up, up_weight)


def _down_backward(
    grad: Tensor, down_weight: Tensor, gate: Tensor, up: Tensor, activation: str, tile: Tile
) -> Run:
    launch = hopper.down_backward(grad, down_weight, gate, up, activation, tile).prepare()
    rows, columns = gate.shape
    make = memory.prepare((rows, 2 * columns), gate.dtype, gate.device)
    half = columns * gate.element_size()

    def run(grad: Tensor, down_weight: Tensor, gate: Tensor, up: Tensor) -> Tensor:
        both = make()
        to = both.data_ptr()
        launch(grad.data_ptr(), down_weight.data_ptr(), gate.data_ptr(), up.data_ptr(), to, to + half)
        return both

    return run


def _gate_up_backward(both: Tensor, gate_weight: Tensor, up_weight: Tensor, tile: Tile) -> Run:
    grad_gate, grad_up = both.chunk(2, dim=1)
    launch = hopper.gate_up_backward(grad_gate, grad_up, gate_weight, up_weight, tile).prepare()
    make = memory.prepare((both.shape[0], gate_weight.shape[1]), both.dtype, both.device)
    half = gate_weight.shape[0] * both.element_size()

    def run(both: Tensor, gate_weight: Tensor, up_weight: Tensor) -> Tensor:
        grad_x = make()
        of_gate = both.data_ptr()
        launch(of_gate, of_gate + half, gate_weight.data_ptr(), up_weight.data_ptr(), grad_x.data_ptr())
        return grad_x

    return run
