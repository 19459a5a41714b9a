"""What torch.vmap makes of an operator: rules from one call to a batch of them.

A rule takes the batch's size, the dimension of each argument that it lies along (None where an argument is
the same for all), and the arguments; it returns the results and where the batch lies in them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Rule = Callable[..., tuple[Any, Any]]


def one_by_one(operator: Callable[..., Any]) -> Rule:
    """For an operator of fixed dimensions: as many calls as the batch has members."""

    def rule(info: Any, in_dims: tuple[Any, ...], *arguments: Any) -> tuple[Any, Any]:
        given = list(zip(arguments, in_dims, strict=True))
        calls = [
            operator(*(a if dim is None else a.select(dim, i) for a, dim in given))
            for i in range(info.batch_size)
        ]
        if isinstance(calls[0], torch.Tensor):
            return _in_front(torch.stack(calls))
        return _in_front(tuple(torch.stack(parts) for parts in zip(*calls, strict=True)))

    return rule


def over_rows(operator: Callable[..., Any]) -> Rule:
    """For one whose first tensor takes any leading dimensions and whose others are weights: one call, if
    these are the same for all."""
    loop = one_by_one(operator)

    def rule(info: Any, in_dims: tuple[Any, ...], *arguments: Any) -> tuple[Any, Any]:
        first, *others = in_dims
        if first is None or any(dim is not None for dim in others):
            return loop(info, in_dims, *arguments)
        return _in_front(operator(arguments[0].movedim(first, 0), *arguments[1:]))

    return rule


def elementwise(operator: Callable[..., Any]) -> Rule:
    """For one whose tensors have one shape: one call, those that are the same for all repeated."""

    def rule(info: Any, in_dims: tuple[Any, ...], *arguments: Any) -> tuple[Any, Any]:
        def batched(argument: Any, dim: int | None) -> Any:
            if not isinstance(argument, torch.Tensor):
                return argument
            if dim is None:
                return argument.expand(info.batch_size, *argument.shape)
            return argument.movedim(dim, 0)

        return _in_front(operator(*map(batched, arguments, in_dims)))

    return rule


def _in_front(result: Any) -> tuple[Any, Any]:
    """One result or several, the batch being the first dimension of each."""
    return result, 0 if isinstance(result, torch.Tensor) else (0,) * len(result)
