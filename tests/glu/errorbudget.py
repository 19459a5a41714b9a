"""The error budget: a kernel against fp64, with eager's own error as the measure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

from rung.glu.activations import ACTIVATIONS

NAMES = ("x", "gate_weight", "up_weight", "down_weight", "gate_bias", "up_bias", "down_bias")
EVIDENCE = 4096
"""Outputs that are evidence enough. Of 33, one row's, a kernel with three roundings less than eager has 0.73
of its error, give or take 0.20: eight in a hundred would fail. Of 4096, 0.65 give or take 0.02, and one with
a rounding more 1.15."""


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


def several(draw: Callable[..., list[Any]]) -> list[list[Any]]:
    """`draw(seed=0)`, and of further seeds as many as EVIDENCE takes."""
    first = draw(seed=0)
    outputs = first[0].shape[:-1].numel() * first[3].shape[0]
    return [first, *(draw(seed=seed) for seed in range(1, -(-EVIDENCE // outputs)))]


def check(fn: Any, activation: str, *draws: list[Any]) -> None:
    """`fn(activation, *tensors)` and every gradient against fp64, within the budget; an error is the norm
    over all draws."""
    names = ["result", *(name for name, t in zip(NAMES, draws[0], strict=True) if t is not None)]
    dtype = draws[0][0].dtype
    pooled = zip(*(_beside_exact(fn, activation, tensors) for tensors in draws), strict=True)
    for name, triples in zip(names, pooled, strict=True):
        ours, usual, exact = (torch.cat([t.flatten() for t in same]) for same in zip(*triples, strict=True))
        limit = budget(dtype, error(usual, exact), forward=name == "result")
        assert error(ours, exact) <= limit, (activation, dtype, name, error(ours, exact), limit)


def _beside_exact(fn: Any, activation: str, tensors: list[Any]) -> list[tuple[Any, ...]]:
    """Of the result and then of every gradient: what `fn` gives, what eager does, and what is exact."""
    seed = torch.Generator(tensors[0].device).manual_seed(1)
    grad = torch.randn(
        *tensors[0].shape[:-1], tensors[3].shape[0], generator=seed, device=tensors[0].device
    ).to(tensors[0].dtype)
    ways = (
        gradients(lambda *t: fn(activation, *t), tensors, grad),
        gradients(lambda *t: eager(activation, *t), tensors, grad),
        gradients(lambda *t: eager(activation, *t), in_double(tensors), grad),
    )
    return list(zip(*([result, *grads] for result, grads in ways), strict=True))
