"""Gradients: of the pointwise GLU and of the MLP, to any order, under autograd and torch.func alike.

Each is written once as (setup, backward) and used by an `autograd.Function` in eager mode, where the
dispatcher's own way to a Python operator costs more than the launch, and by the registered operator
elsewhere.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import _SingleLevelFunction
from torch.nn import functional

from rung.glu import batching, forward, plans, pointwise, reference, training
from rung.glu import gate_up as launching
from rung.glu.modes import through_dispatcher, traced, transformed
from rung.glu.operands import Run, Tensors
from rung.glu.views import fold

Gradients = tuple[Tensor | None, ...]


def setup_glu(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    gate, up, ctx.activation = inputs
    ctx.save_for_backward(gate, up)


def glu_gradient(ctx: Any, grad: Tensor) -> Gradients:
    gate, up = ctx.saved_tensors
    return (*differentiable_backward(grad, gate, up, ctx.activation), None)


def setup_backward(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    grad, gate, up, ctx.activation = inputs
    ctx.save_for_backward(grad, gate, up)


def backward_gradient(ctx: Any, over_gate: Tensor, over_up: Tensor) -> Gradients:
    """The second derivative, by the reference: rare, and differentiable in turn."""
    activation = ctx.activation

    def backward(grad: Tensor, gate: Tensor, up: Tensor) -> tuple[Tensor, Tensor]:
        return reference.glu_backward(grad, gate, up, activation)

    _, pull = torch.func.vjp(backward, *ctx.saved_tensors)
    return (*pull((over_gate, over_up)), None)


def setup_mlp(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    ctx.activation, ctx.rounding, ctx.keep = inputs[7:]
    ctx.set_materialize_grads(False)
    ctx.mark_non_differentiable(*output[1:])
    ctx.save_for_backward(*inputs[:7], *output[1:])


def setup_forward(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    """Of the operator that keeps nothing, for whoever calls it with gradients all the same."""
    ctx.activation, ctx.rounding, ctx.keep = *inputs[7:], False
    ctx.save_for_backward(*inputs[:7], None, None, None)


def forward_gradient(ctx: Any, grad: Tensor) -> Gradients:
    return mlp_gradient(ctx, grad)[:9]


def mlp_gradient(ctx: Any, grad: Tensor | None, *_: None) -> Gradients:
    """Gradients for x, three weights, three biases; each tensor that was kept is let go after its last use.

    Without biases on sm_90 four kernels or five: the weight of down; down and the GLU in one (elsewhere two),
    which leaves the gradients of gate and up side by side; so one product for both their weights; for x one,
    or two.
    """
    if grad is None:
        return (None,) * 10
    if torch.is_autocast_enabled(grad.device.type):
        with torch.autocast(grad.device.type, enabled=False):  # what was kept has forward's dtype
            return mlp_gradient(ctx, grad)
    if not traced() and (torch.is_grad_enabled() or transformed()):
        return (*_differentiable_gradients(ctx, grad), None, None, None)
    x, gate_weight, up_weight, down_weight, *biases, _, hidden, gate, up = ctx.saved_tensors
    ctx.maybe_clear_saved_tensors()  # unless the graph is retained
    if not ctx.keep:
        inputs: Any = (x, gate_weight, up_weight, *biases)
        gate_up: Any = torch.ops.rung.gate_up if through_dispatcher(*inputs) else launching.gate_up
        hidden, gate, up = gate_up(*inputs, ctx.activation, ctx.rounding, True)
    needs = ctx.needs_input_grad[-10:]
    found: list[Tensor | None] = [None] * 7
    rows, grad = fold(x), fold(grad).contiguous()  # that of a sum is one number, expanded
    if needs[3]:
        found[3] = torch.mm(grad.t(), fold(hidden))
    del hidden
    if needs[6]:
        found[6] = grad.sum(0)
    if needs[0] or needs[1] or needs[2] or needs[4] or needs[5]:
        both = _down_backward(grad, down_weight, fold(gate), fold(up), ctx.activation)
        del gate, up
        if needs[1] or needs[2]:
            found[1], found[2] = torch.mm(both.t(), rows).chunk(2)
        if needs[4] or needs[5]:
            found[4], found[5] = both.sum(0).chunk(2)
        if needs[0]:
            grad_x = _gate_up_backward(both, gate_weight, up_weight)
            found[0] = grad_x if x.ndim == 2 else grad_x.view(x.shape)
    asked = [one if need else None for one, need in zip(found, needs, strict=False)]
    return (*asked, None, None, None)


def _down_backward(*arguments: Any) -> Tensor:
    run = torch.ops.rung.down_backward if through_dispatcher(*arguments[:4]) else training.down_backward
    return run(*arguments)


def _gate_up_backward(*arguments: Tensor) -> Tensor:
    run = torch.ops.rung.gate_up_backward if through_dispatcher(*arguments) else training.gate_up_backward
    return run(*arguments)


def _differentiable_gradients(ctx: Any, grad: Tensor) -> Gradients:
    """The same by going forward anew, out of parts that have gradients of their own."""
    tensors = ctx.saved_tensors[:7]
    there = [i for i, tensor in enumerate(tensors) if tensor is not None]

    def mlp(*given: Tensor) -> Tensor:
        x, gate, up, down, gate_bias, up_bias, down_bias = _spread(given, there)
        gates = functional.linear(x, gate, gate_bias)
        hidden = GLU.apply(gates, functional.linear(x, up, up_bias), ctx.activation)
        return functional.linear(hidden, down, down_bias)

    _, pull = torch.func.vjp(mlp, *(tensors[i] for i in there))
    return tuple(_spread(pull(grad), there))


def _spread(given: tuple[Any, ...], there: list[int]) -> list[Any]:
    """Seven tensors, None where none is given."""
    found = [None] * 7
    for i, tensor in zip(there, given, strict=True):
        found[i] = tensor
    return found


def differentiable_backward(grad: Tensor, gate: Tensor, up: Tensor, activation: str) -> tuple[Tensor, Tensor]:
    """`glu_backward`, with its own gradient where one may be asked for."""
    if through_dispatcher(grad, gate, up):
        return torch.ops.rung.glu_backward(grad, gate, up, activation)  # type: ignore[no-any-return]
    if torch.is_grad_enabled() or transformed():
        return GLUBackward.apply(grad, gate, up, activation)  # type: ignore[no-any-return]
    return pointwise.glu_backward(grad, gate, up, activation)


class GLUBackward(torch.autograd.Function):  # type: ignore[misc]
    forward = staticmethod(pointwise.glu_backward)
    setup_context = staticmethod(setup_backward)
    backward = staticmethod(backward_gradient)

    @classmethod
    def vmap(cls, *batch: Any) -> Any:
        return batching.elementwise(cls.apply)(*batch)


class GLU(torch.autograd.Function):  # type: ignore[misc]
    forward = staticmethod(pointwise.glu)
    setup_context = staticmethod(setup_glu)
    backward = staticmethod(glu_gradient)

    @classmethod
    def vmap(cls, *batch: Any) -> Any:
        return batching.elementwise(cls.apply)(*batch)


class MLP(torch.autograd.Function):  # type: ignore[misc]
    forward = staticmethod(training.forward)
    setup_context = staticmethod(setup_mlp)
    backward = staticmethod(mlp_gradient)

    @classmethod
    def vmap(cls, *batch: Any) -> Any:
        return batching.over_rows(cls.apply)(*batch)


class EagerMLP(_SingleLevelFunction):  # type: ignore[misc]
    """`MLP` outside torch.func, the short way: one step (binding names for the second costs 20 µs a call),
    and not by the `apply` that looks for transforms. Takes the gate-up kernel's plan first."""

    @staticmethod
    def forward(ctx: Any, plan: Any, *inputs: Any) -> Tensor:
        if plan is None:
            output = training.forward(*inputs)
        else:
            output = training.planned_forward(plan, inputs[:7], inputs[9])
        setup_mlp(ctx, inputs, output)
        return output[0]

    @staticmethod
    def backward(ctx: Any, grad: Tensor | None) -> Gradients:
        return (None, *mlp_gradient(ctx, grad))


def mlp(tensors: tuple[Any, ...], activation: str, rounding: str, keep: bool) -> Tensor:
    """The MLP of x, three weights and three biases or None, with gradients. Without `keep` nothing but these
    is kept for backward, which then goes forward again."""
    arguments = (*tensors, activation, rounding, keep)
    if through_dispatcher(*tensors):
        return torch.ops.rung.glu_mlp_training(*arguments)[0]
    if transformed():
        return MLP.apply(*arguments)[0]
    x, gate_weight, up_weight, down_weight, gate_bias, up_bias, _ = tensors
    where = _where(tensors, activation, rounding, keep)
    plan = plans.find(where)
    if plan is None and x.numel() and gate_weight.numel():
        training.begin(x, gate_weight, up_weight, down_weight, activation)
        plan = launching.plan(x, gate_weight, up_weight, gate_bias, up_bias, activation, rounding, keep)
        plans.keep(where, plan)
    return EagerMLP.apply(plan, *arguments)


def planned_mlp(tensors: Tensors, activation: str, rounding: str, recompute: bool) -> Run | None:
    """How the same runs for plain tensors of which one like them has been here before, else None."""
    keep = not recompute
    plan = plans.find(_where(tensors, activation, rounding, keep))
    if plan is None:
        return None
    return lambda tensors: EagerMLP.apply(plan, *tensors, activation, rounding, keep)


def _where(tensors: tuple[Any, ...], activation: str, rounding: str, keep: bool) -> Hashable:
    return "training", keep, forward.key(tensors, activation, rounding)
