"""What the gate-up kernels work on, as they see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import torch

from rung.glu.devices import kind_of
from rung.glu.rules import Tile
from rung.glu.views import fold, vector_width

Tensors: TypeAlias = tuple[
    torch.Tensor,
    torch.Tensor,
    torch.Tensor,
    torch.Tensor,
    torch.Tensor | None,
    torch.Tensor | None,
    torch.Tensor | None,
]
"""Those of an MLP: x, the weights of gate, up and down, their biases or None."""
Run = Callable[[Tensors], torch.Tensor]
"""A plan of the whole MLP: gives y, in memory of its own."""


class Operands(NamedTuple):
    """x [M, K], weights [N, K], biases [N] or None, and the `vector_width` they allow."""

    x: torch.Tensor
    gate_weight: torch.Tensor
    up_weight: torch.Tensor
    gate_bias: torch.Tensor | None
    up_bias: torch.Tensor | None
    width: int


def arrange(
    x: torch.Tensor,
    gate_weight: torch.Tensor,
    up_weight: torch.Tensor,
    gate_bias: torch.Tensor | None,
    up_bias: torch.Tensor | None,
) -> Operands:
    """The operands with x folded to two dimensions."""
    x = fold(x)
    tensors = (x, gate_weight, up_weight, gate_bias, up_bias)
    return Operands(*tensors, vector_width(tensors, *gate_weight.shape))


def precision(dtype: torch.dtype) -> str:
    """What tl.dot is to multiply in; of no consequence for 2-byte floats."""
    return "ieee" if kind_of(dtype) == "ieee" else "tf32"


def biases(first: torch.Tensor | None, second: torch.Tensor | None) -> int:
    """Which of the two are there, as bits."""
    return (first is not None) + 2 * (second is not None)


def block(tile: Tile) -> tuple[int, ...]:
    """A tile as the kernels' last constants take it."""
    return tile.m, tile.n, tile.k, tile.stages, tile.group


def steps(tensor: torch.Tensor, width: int) -> tuple[int, int]:
    """A matrix's strides as the kernels take them: from row to row in units of `width` elements, from column
    to column in elements."""
    return tensor.stride(0) // width, tensor.stride(1)
