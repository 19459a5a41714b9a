"""A small language model from a transformers config."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rung.ladder.values import Built, Parameters, Rung

if TYPE_CHECKING:
    import torch


def _build(parameters: Parameters, device: torch.device, dtype: torch.dtype) -> Built:
    import torch

    from rung.ladder.models import causal_model

    sizes = dict(parameters)
    batch, seq = sizes.pop("batch"), sizes.pop("seq")
    model = causal_model(**sizes, longest=seq, device=device, dtype=dtype)
    return Built(model, (torch.randint(sizes["vocab"], (batch, seq), device=device),))


MODEL = Rung(
    name="model",
    title="Language model",
    expression="logits(layers(embed(tokens)))",
    region="model_fwd",
    lesson=(
        "The same few kernels again for each layer. A model written for reading runs its norms and its "
        "rotary turn as a dozen small kernels, and each needs a launch: that is where a compiler gains, not "
        "in the GEMMs."
    ),
    about={
        "liger": "its kernels in the place of this one model's norms, rotary turns and MLPs, of no other's",
        "rung": "only the MLPs are exchanged for rung.glu.GLUMLP, over the same weights",
    },
    variants=("eager", "compiled", "liger", "rung"),
    # Two layers of the width of Llama 3.2 1B, with a quarter of its vocabulary.
    gpu=(
        {
            "family": "llama",
            "layers": 2,
            "batch": 4,
            "seq": 512,
            "dim": 2048,
            "hidden": 8192,
            "heads": 32,
            "vocab": 32000,
        },
    ),
    cpu=(
        {
            "family": "llama",
            "layers": 2,
            "batch": 1,
            "seq": 32,
            "dim": 128,
            "hidden": 384,
            "heads": 4,
            "vocab": 1000,
        },
    ),
    choices={"family": ("llama", "gemma", "qwen")},
    build=_build,
)
