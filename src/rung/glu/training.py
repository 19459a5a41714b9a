"""The MLP with gradients: what forward keeps, and the kernel that backward begins with. Checked arguments, no
autograd."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from torch import Tensor
from torch.nn import functional

from rung.glu import hopper, plans, pointwise, rules
from rung.glu.devices import chip, kind_of, why_no_kernel
from rung.glu.gate_up import Plan as GateUpPlan
from rung.glu.gate_up import gate_up
from rung.glu.rules import Tile
from rung.glu.views import device_index, vector_width

if TYPE_CHECKING:
    from rung.glu.kernels.launch import Launch

Kept = tuple[Tensor, Tensor, Tensor, Tensor]


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


def planned_forward(plan: GateUpPlan, tensors: tuple[Any, ...], keep: bool) -> Kept:
    """The same with the gate-up kernel's plan at hand, of x, three weights, three biases or None."""
    x, gate_weight, up_weight, down_weight, gate_bias, up_bias, down_bias = tensors
    hidden, gate, up = plan.run(x, gate_weight, up_weight, gate_bias, up_bias)
    y = functional.linear(hidden, down_weight, down_bias)
    return (y, hidden, gate, up) if keep else (y, *(x.new_empty(0) for _ in range(3)))


class Plan(NamedTuple):
    """A prepared `down_backward`, or None where a product and the GLU's gradient do its work."""

    launch: Launch | None
    address: Callable[[Tensor], Any] = Tensor.data_ptr


def down_backward(grad: Tensor, down_weight: Tensor, gate: Tensor, up: Tensor, activation: str) -> Tensor:
    """The gradients of gate and up, side by side [M, 2 N], from that of y = down(act(gate) * up).

    `grad` [M, D], `down_weight` [D, N], `gate` and `up` [M, N].
    """
    tensors = (grad, down_weight, gate, up)
    where = ("down-backward", activation, *map(plans.of, tensors))
    plan: Plan = plans.find(where) or plans.keep(where, _plan(*tensors, activation))
    if plan.launch is None:
        return pointwise.glu_backward_side_by_side(grad @ down_weight, gate, up, activation)
    columns = gate.shape[1]
    both = gate.new_empty((gate.shape[0], 2 * columns))
    to = both.data_ptr()
    plan.launch(*map(plan.address, tensors), to, to + columns * both.element_size())
    return both


def why_not_fused(grad: Tensor, down_weight: Tensor, gate: Tensor, up: Tensor) -> str | None:
    """Why `down_backward` is no single kernel for these, or None where it is one."""
    if not (grad.numel() and gate.numel()):
        return "a dimension is zero"
    obstacle = why_no_kernel(grad.device, grad.dtype)
    if obstacle is not None:
        return obstacle
    if any(tensor.stride(0) < tensor.shape[1] for tensor in (grad, down_weight, gate, up)):
        return "rows overlap"
    width = vector_width((grad, down_weight, gate, up), *down_weight.shape)
    return hopper.why_no_gluon(chip(device_index(grad)).capability, kind_of(grad.dtype), width)


def _plan(grad: Tensor, down_weight: Tensor, gate: Tensor, up: Tensor, activation: str) -> Plan:
    if why_not_fused(grad, down_weight, gate, up):
        return Plan(None)
    multiprocessors = chip(device_index(grad)).multiprocessors
    tile = rules.choose(rules.down_backward(), *gate.shape, multiprocessors)
    return _prepared(grad, down_weight, gate, up, activation, tile)


def _prepared(
    grad: Tensor, down_weight: Tensor, gate: Tensor, up: Tensor, activation: str, tile: Tile
) -> Plan:
    from rung.glu.kernels.launch import address

    return Plan(hopper.prepare_backward(grad, down_weight, gate, up, activation, tile), address)


def down_backward_plans(hidden: Tensor, down_weight: Tensor, activation: str) -> list[Plan]:
    """A plan for each tile that `down_backward` may choose for tensors like these: for warming."""
    grad = hidden.new_empty((hidden.shape[0], down_weight.shape[0]))
    if why_not_fused(grad, down_weight, hidden, hidden):
        return []
    return [_prepared(grad, down_weight, hidden, hidden, activation, tile) for tile in rules.down_backward()]
