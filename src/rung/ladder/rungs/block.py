"""A transformer block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rung.ladder.values import Built, Parameters, Rung

if TYPE_CHECKING:
    import torch


def _build(parameters: Parameters, device: torch.device, dtype: torch.dtype) -> Built:
    import torch

    from rung.errors import UsageError
    from rung.ladder.transformer import Block

    batch, seq, dim, heads = (parameters[key] for key in ("batch", "seq", "dim", "heads"))
    if dim % (2 * heads):
        raise UsageError(f"dim is {dim}: {heads} heads need an even, equal share of it each")
    block = Block(dim, heads, parameters["hidden"], seq).to(device, dtype)
    return Built(block, (torch.randn(batch, seq, dim, device=device, dtype=dtype),))


BLOCK = Rung(
    name="block",
    title="Transformer block",
    expression="x + attention(norm(x)), then x + mlp(norm(x))",
    region="block_fwd",
    lesson=(
        "Seven GEMMs and one attention do the arithmetic; the norms, the rotary turn, the GLU and the "
        "residual adds between them are small kernels that only move bytes. Those are what fusion is about."
    ),
    about={
        "liger": "a hand-written kernel each for the norm, the rotary turn and the GLU, for any shape",
        "rung": "only the MLP is exchanged: its gate, up and GLU are one kernel; all else is as in eager",
    },
    variants=("eager", "compiled", "liger", "rung"),
    gpu=({"batch": 8, "seq": 1024, "dim": 768, "heads": 12, "hidden": 3072},),
    cpu=({"batch": 2, "seq": 64, "dim": 128, "heads": 4, "hidden": 512},),
    build=_build,
)
