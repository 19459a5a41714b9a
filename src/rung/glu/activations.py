"""The activations of a GLU by name, as PyTorch computes them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import torch
from torch.nn import functional

Activation = Literal["gelu_tanh", "gelu", "silu", "relu", "sigmoid", "identity"]


def _identity(x: Any) -> Any:
    return x


ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "gelu_tanh": partial(functional.gelu, approximate="tanh"),
    "gelu": functional.gelu,
    "silu": functional.silu,
    "relu": functional.relu,
    "sigmoid": torch.sigmoid,
    "identity": _identity,
}
"""GeGLU (tanh or erf), SwiGLU, ReGLU, GLU, bilinear."""
