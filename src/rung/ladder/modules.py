"""The MLPs that the ladder records. Imports torch, so it is imported only where one is built."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional


class GeGLUMLP(nn.Module):  # type: ignore[misc]
    """down(gelu_tanh(gate(x)) * up(x)): x [..., dim] -> [..., dim], the three linears without bias.

    Submodules are named as in Hugging Face checkpoints.
    """

    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(dim, hidden, bias=False)
        self.up_proj = nn.Linear(dim, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, dim, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """One forward; on a GPU in eager mode, five kernels."""
        out: torch.Tensor = self.down_proj(self.hidden(x))
        return out

    def hidden(self, x: torch.Tensor) -> torch.Tensor:
        """What down takes: [..., hidden]."""
        gate = self.gate_proj(x)
        up = self.up_proj(x)
        return functional.gelu(gate, approximate="tanh") * up


class CheckedMLP(GeGLUMLP):
    """The same with a look at its numbers on the way, which the CPU has to wait for."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """One forward. Raises FloatingPointError for an infinity or a NaN."""
        hidden = self.hidden(x)
        if not hidden.isfinite().all():
            raise FloatingPointError("the hidden layer is not finite")
        out: torch.Tensor = self.down_proj(hidden)
        return out


def matmul_add(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """x @ w + b, all [size, size]: b is a full matrix, so no bias epilogue is asked for by its shape."""
    return torch.add(torch.matmul(x, w), b)
