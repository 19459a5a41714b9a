"""Attention, and the block around it and the MLP, written as in Hugging Face models. Imports torch."""

from __future__ import annotations

import copy

import torch
from torch import nn
from torch.nn import functional

from rung.ladder.modules import GeGLUMLP


class RMSNorm(nn.Module):  # type: ignore[misc]
    """weight * x / sqrt(mean(x²) + eps) over the last dimension, computed in fp32; x [..., dim]."""

    def __init__(self, dim: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.variance_epsilon = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """One norm, an op a step, as models write it out: in eager mode a kernel each."""
        wide = x.float()
        wide = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.variance_epsilon)
        return self.weight * wide.to(x.dtype)


def rotate_half(x: torch.Tensor) -> torch.Tensor:
    """The halves of the last dimension change places, the second one negated."""
    low, high = x.chunk(2, dim=-1)
    return torch.cat((-high, low), dim=-1)


def apply_rotary_pos_emb(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """q and k [batch, heads, seq, size] turned by their position's angles, cos and sin [batch, seq, size]."""
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin


def angles(longest: int, size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """cos and sin [1, longest, size] of position / 10000^(2i / size), each half alike."""
    rates = 10000.0 ** (-torch.arange(0, size, 2).float() / size)
    turn = torch.outer(torch.arange(longest).float(), rates).repeat(1, 2)[None]
    return turn.cos(), turn.sin()


class Attention(nn.Module):  # type: ignore[misc]
    """Causal multi-head attention without biases: x [batch, seq, dim] -> the same, seq up to `longest`.

    The score of a position with another, their softmax and the weighted sum are one call of
    `scaled_dot_product_attention`, or written out.
    """

    def __init__(self, dim: int, heads: int, longest: int, rotary: bool = False) -> None:
        super().__init__()
        self.heads, self.rotary, self.fused = heads, rotary, True
        self.q_proj = nn.Linear(dim, dim, bias=False)
        self.k_proj = nn.Linear(dim, dim, bias=False)
        self.v_proj = nn.Linear(dim, dim, bias=False)
        self.o_proj = nn.Linear(dim, dim, bias=False)
        cos, sin = angles(longest, dim // heads)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        future = torch.ones(longest, longest, dtype=torch.bool).triu(1)
        self.register_buffer("future", future, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """One forward."""
        seq = x.shape[1]
        q, k, v = (
            projection(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for projection in (self.q_proj, self.k_proj, self.v_proj)
        )
        if self.rotary:
            q, k = apply_rotary_pos_emb(q, k, self.cos[:, :seq], self.sin[:, :seq])
        if self.fused:
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = (q @ k.transpose(-2, -1)) * q.shape[-1] ** -0.5
            mixed = scores.masked_fill(self.future[:seq, :seq], float("-inf")).softmax(-1) @ v
        out: torch.Tensor = self.o_proj(mixed.transpose(1, 2).flatten(2))
        return out

    def written_out(self) -> Attention:
        """The same with softmax(q k^T) v an op a step; it shares the weights."""
        twin = copy.copy(self)
        twin.fused = False
        return twin


class Block(nn.Module):  # type: ignore[misc]
    """x + attention(norm(x)), then x + mlp(norm(x)): x [batch, seq, dim] -> the same, seq up to `longest`."""

    def __init__(self, dim: int, heads: int, hidden: int, longest: int) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(dim)
        self.self_attn = Attention(dim, heads, longest, rotary=True)
        self.post_attention_layernorm = RMSNorm(dim)
        self.mlp = GeGLUMLP(dim, hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """One forward."""
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))
