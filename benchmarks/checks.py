"""Nothing is timed that is wrong: results against fp64 on some rows, and no result in another's memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from peers import Inputs, eager
from regimes import Call

SOME = 256
"""Rows held against fp64."""


class WrongError(Exception):
    """A contender computes something else."""


def check(sets: Sequence[Inputs], forwards: Mapping[str, Sequence[Call]]) -> dict[str, float]:
    """Each contender's error against fp64: Rung's is at most eager's, a peer's at most twice that, and Rung's
    results are its own memory; else WrongError."""
    one = sets[0]
    exact = eager(*(tensor.double() for tensor in (one.x[:SOME], *one[1:4])))
    limit = distance(eager(*one[:4])[:SOME], exact)
    errors = {name: distance(calls[0]()[:SOME], exact) for name, calls in forwards.items()}
    for name, found in errors.items():
        if not found <= (limit if name.startswith("rung") else 2 * limit):
            raise WrongError(f"{name} is {found:.2e} of the norm away from fp64, eager {limit:.2e}")
    _check_own_memory(forwards["rung"])
    return errors


def check_step(inputs: Inputs, gradients: Mapping[str, Sequence[torch.Tensor]]) -> None:
    """The gradient of x against fp64 on some rows, at most twice eager's error; those of the weights beside
    eager's."""
    x, *weights = (tensor.detach().double() for tensor in (inputs.x[:SOME], *inputs[1:4]))
    exact = torch.autograd.grad(eager(x.requires_grad_(), *weights), x, inputs.dy[:SOME].double())[0]
    limit = 2 * distance(gradients["eager"][0][:SOME], exact)
    for name, found in gradients.items():
        if not distance(found[0][:SOME], exact) <= limit:
            raise WrongError(
                f"{name}'s dx is {distance(found[0][:SOME], exact):.2e} away, allowed {limit:.2e}"
            )
    for ours, theirs in zip(gradients["rung"][1:], gradients["eager"][1:], strict=True):
        if not distance(ours, theirs.double()) < 0.02:
            raise WrongError(f"a weight's gradient is {distance(ours, theirs.double()):.2e} from eager's")


def distance(result: Any, exact: torch.Tensor) -> float:
    """‖result - exact‖ / ‖exact‖."""
    return float((result.double() - exact).norm() / exact.norm())


def _check_own_memory(calls: Sequence[Call]) -> None:
    first: Any = calls[0]()
    kept = first.clone()
    second: Any = calls[1]()
    if first.data_ptr() == second.data_ptr() or not torch.equal(first, kept):
        raise WrongError("two results of Rung share memory")
