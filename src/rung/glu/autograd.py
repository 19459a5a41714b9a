"""Gradients: of the pointwise GLU and of gate-up, to any order, under autograd and torch.func alike.

Each is written once as (setup, backward) and used twice: by an `autograd.Function` in eager mode, where the
dispatcher's own way to a Python operator costs more than the launch, and by the registered operator
elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from rung.glu import gate_up as launching
from rung.glu import pointwise, reference
from rung.glu.modes import through_dispatcher, transformed


def setup_glu(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    gate, up, ctx.activation = inputs
    ctx.save_for_backward(gate, up)


def glu_gradient(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    gate, up = ctx.saved_tensors
    return (*differentiable_backward(grad, gate, up, ctx.activation), None)


def setup_backward(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    grad, gate, up, ctx.activation = inputs
    ctx.save_for_backward(grad, gate, up)


def backward_gradient(ctx: Any, over_gate: Tensor, over_up: Tensor) -> tuple[Tensor | None, ...]:
    """The second derivative, by the reference: rare, and differentiable in turn."""
    activation = ctx.activation

    def backward(grad: Tensor, gate: Tensor, up: Tensor) -> tuple[Tensor, Tensor]:
        return reference.glu_backward(grad, gate, up, activation)

    _, pull = torch.func.vjp(backward, *ctx.saved_tensors)
    return (*pull((over_gate, over_up)), None)


def setup_gate_up(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    x, gate_weight, up_weight, _, _, ctx.activation, _, save = inputs
    _, gate, up = output
    ctx.set_materialize_grads(False)
    ctx.saved = save
    ctx.save_for_backward(x, gate_weight, up_weight, gate, up)


def gate_up_gradient(
    ctx: Any, grad: Tensor | None, over_gate: Tensor | None, over_up: Tensor | None
) -> tuple[Tensor | None, ...]:
    """Gradients for x, both weights and both biases. `over_*` come only from a second backward."""
    if not ctx.saved:
        raise RuntimeError("rung::gate_up was called with save=False: it kept nothing to go back with")
    x, gate_weight, up_weight, gate, up = ctx.saved_tensors
    if grad is not None:
        grad_gate, grad_up = differentiable_backward(grad, gate, up, ctx.activation)
        over_gate = grad_gate if over_gate is None else over_gate + grad_gate
        over_up = grad_up if over_up is None else over_up + grad_up
    needs = ctx.needs_input_grad
    gates, ups = _flat(over_gate), _flat(over_up)
    dx = _sum_of_products(gates, gate_weight, ups, up_weight) if needs[0] else None
    rows = _flat(x)
    return (
        dx if dx is None else dx.reshape(x.shape),
        gates.t() @ rows if needs[1] and gates is not None else None,
        ups.t() @ rows if needs[2] and ups is not None else None,
        gates.sum(0) if needs[3] and gates is not None else None,
        ups.sum(0) if needs[4] and ups is not None else None,
        *(None, None, None),
    )


def differentiable_backward(grad: Tensor, gate: Tensor, up: Tensor, activation: str) -> tuple[Tensor, Tensor]:
    """`glu_backward`, with its own gradient where one may be asked for."""
    if through_dispatcher(grad, gate, up):
        return torch.ops.rung.glu_backward(grad, gate, up, activation)  # type: ignore[no-any-return]
    if torch.is_grad_enabled() or transformed():
        return GLUBackward.apply(grad, gate, up, activation)  # type: ignore[no-any-return]
    return pointwise.glu_backward(grad, gate, up, activation)


def over_batch(operator: Callable[..., Any]) -> Callable[..., Any]:
    """The vmap rule of an operator whose first tensor takes any leading dimensions, the others (weights)
    none."""

    def rule(info: Any, in_dims: tuple[Any, ...], *arguments: Any) -> tuple[Any, Any]:
        if in_dims[0] is not None and all(dim is None for dim in in_dims[1:]):
            result = operator(arguments[0].movedim(in_dims[0], 0), *arguments[1:])
        else:
            calls = [
                operator(
                    *(
                        a if dim is None else a.select(dim, i)
                        for a, dim in zip(arguments, in_dims, strict=True)
                    )
                )
                for i in range(info.batch_size)
            ]
            if isinstance(calls[0], torch.Tensor):
                return torch.stack(calls), 0
            result = tuple(torch.stack(parts) for parts in zip(*calls, strict=True))
        return result, 0 if isinstance(result, torch.Tensor) else (0,) * len(result)

    return rule


def _flat(tensor: Tensor | None) -> Any:
    return None if tensor is None else tensor.reshape(-1, tensor.shape[-1])


def _sum_of_products(a: Any, b: Any, c: Any, d: Any) -> Any:
    """a @ b + c @ d, the sum in the second product's epilogue."""
    if a is None or c is None:
        return c @ d if a is None else a @ b
    return torch.addmm(a @ b, c, d) if torch.is_grad_enabled() else (a @ b).addmm_(c, d)


class _Function(torch.autograd.Function):  # type: ignore[misc]
    """What the three have in common: their vmap rule."""

    @classmethod
    def vmap(cls, info: Any, in_dims: Any, *arguments: Any) -> Any:
        return over_batch(cls.apply)(info, in_dims, *arguments)


class GLUBackward(_Function):
    forward = staticmethod(pointwise.glu_backward)
    setup_context = staticmethod(setup_backward)
    backward = staticmethod(backward_gradient)


class GLU(_Function):
    forward = staticmethod(pointwise.glu)
    setup_context = staticmethod(setup_glu)
    backward = staticmethod(glu_gradient)


class GateUp(_Function):
    forward = staticmethod(launching.gate_up)
    setup_context = staticmethod(setup_gate_up)
    backward = staticmethod(gate_up_gradient)
