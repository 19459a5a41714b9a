"""The error budget: a kernel against fp64, with eager's own error as the measure."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from rung.glu.activations import ACTIVATIONS

NAMES = ("x", "gate_weight", "up_weight", "down_weight", "gate_bias", "up_bias", "down_bias")


def inputs(
    rows: tuple[int, ...], width: int, hidden: int, dtype: torch.dtype, *, bias: bool = True,
    device: str = "cpu",
    scale: float = 1.0, seed: int = 0,
) -> list[Any]:  # fmt: skip
    """x, three weights, three biases (or None), random, of a network's usual sizes times `scale`."""
    generator = torch.Generator(device).manual_seed(seed)

    def draw(*shape: int, size: float = 1.0) -> torch.Tensor:
        return (torch.randn(*shape, device=device, generator=generator) * size).to(dtype)

    weights = [draw(hidden, width, size=scale * width**-0.5) for _ in range(2)]
    weights.append(draw(width, hidden, size=hidden**-0.5))
    biases = [draw(n) if bias else None for n in (hidden, hidden, width)]
    return [draw(*rows, width), *weights, *biases]


def eager(activation: str, x: Any, g: Any, u: Any, d: Any, bg: Any, bu: Any, bd: Any) -> Any:
    """Three linears, as a module runs them."""
    gate = functional.linear(x, g, bg)
    return functional.linear(ACTIVATIONS[activation](gate) * functional.linear(x, u, bu), d, bd)


def error(result: torch.Tensor, exact: torch.Tensor) -> float:
    """‖result - exact‖ / ‖exact‖; NaN is no small error."""
    assert result.shape == exact.shape
    value = ((result.double() - exact).norm() / exact.norm().clamp_min(1e-300)).item()
    return value if value == value else float("inf")


def budget(dtype: torch.dtype, of_eager: float, *, forward: bool) -> float:
    """At most eager's where eager rounds thrice; twice eager's and 8 eps where only summation differs."""
    if dtype == torch.float32 or not forward:
        return 2 * of_eager + 8 * torch.finfo(dtype).eps
    return of_eager


def gradients(fn: Any, tensors: list[Any], grad: torch.Tensor) -> tuple[Any, list[Any]]:
    """The result of `fn(*tensors)` and the gradients of all tensors for `grad`."""
    leaves = [None if t is None else t.detach().clone().requires_grad_() for t in tensors]
    result = fn(*leaves)
    given = [leaf for leaf in leaves if leaf is not None]
    return result.detach(), list(torch.autograd.grad(result, given, grad.to(result.dtype)))


def in_double(tensors: list[Any]) -> list[Any]:
    return [None if t is None else t.double() for t in tensors]


def check(fn: Any, activation: str, tensors: list[Any]) -> None:
    """`fn(activation, *tensors)` and every gradient against fp64, within the budget."""
    dtype = tensors[0].dtype
    seed = torch.Generator(tensors[0].device).manual_seed(1)
    grad = torch.randn(
        *tensors[0].shape[:-1], tensors[3].shape[0], generator=seed, device=tensors[0].device
    ).to(dtype)
    exact, exact_grads = gradients(lambda *t: eager(activation, *t), in_double(tensors), grad)
    usual, usual_grads = gradients(lambda *t: eager(activation, *t), tensors, grad)
    ours, our_grads = gradients(lambda *t: fn(activation, *t), tensors, grad)
    limit = budget(dtype, error(usual, exact), forward=True)
    assert error(ours, exact) <= limit, (activation, dtype, error(ours, exact), limit)
    given = [name for name, t in zip(NAMES, tensors, strict=True) if t is not None]
    for name, a, b, c in zip(given, our_grads, usual_grads, exact_grads, strict=True):
        limit = budget(dtype, error(b, c), forward=False)
        assert error(a, c) <= limit, (activation, dtype, name, error(a, c), limit)
