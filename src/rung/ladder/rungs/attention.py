"""Causal multi-head attention."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rung.ladder.values import Built, Parameters, Rung

if TYPE_CHECKING:
    import torch


def _build(parameters: Parameters, device: torch.device, dtype: torch.dtype) -> Built:
    import torch

    from rung.errors import UsageError
    from rung.ladder.transformer import Attention

    batch, seq, dim, heads = (parameters[key] for key in ("batch", "seq", "dim", "heads"))
    if dim % heads:
        raise UsageError(f"dim is {dim}: {heads} heads need an equal share of it each")
    attention = Attention(dim, heads, seq).to(device, dtype)
    return Built(attention, (torch.randn(batch, seq, dim, device=device, dtype=dtype),))


ATTENTION = Rung(
    name="attention",
    title="Causal attention",
    expression="o(softmax(q(x) @ k(x).t() / sqrt(size)) @ v(x))",
    region="attention_fwd",
    lesson=(
        "Four GEMMs around one fused kernel. Written out, the same arithmetic sends the scores, seq x seq a "
        "head, through memory at every step; flash attention never writes them."
    ),
    train_lesson=(
        "Backward doubles the GEMMs and recomputes the scores: flash attention keeps a number a row from the "
        "forward, written out keeps every score."
    ),
    about={
        "math": "the scores have batch x heads x seq x seq elements, masked, normalised, multiplied in turn",
        "compiled": "the projections and the fused attention are library kernels: little is left to fuse",
    },
    variants=("eager", "math", "compiled"),
    gpu=({"batch": 8, "seq": 1024, "dim": 768, "heads": 12},),
    cpu=({"batch": 2, "seq": 64, "dim": 64, "heads": 4},),
    build=_build,
)
