"""A small language model of a known family from its config: random weights, no download."""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

from rung.errors import MachineError, UsageError

if TYPE_CHECKING:
    import torch

CONFIGS = {"llama": "LlamaConfig", "gemma": "GemmaConfig", "qwen": "Qwen3Config"}

QUERIES_A_KEY = 4
"""Query heads that share a key and a value, as in Llama 3.2."""


def require_transformers() -> Any:
    """The `transformers` module. Raises MachineError with the command that installs it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return importlib.import_module("transformers")
    except ImportError as error:
        raise MachineError(
            f'this rung needs transformers ({error}); install it with: pip install "rung[models]"'
        ) from None


def causal_model(
    family: str,
    *,
    layers: int,
    dim: int,
    hidden: int,
    heads: int,
    vocab: int,
    longest: int,
    device: torch.device,
    dtype: torch.dtype,
) -> Any:
    """A causal language model: token ids [batch, seq] -> logits [batch, seq, vocab]; no cache is kept.

    Raises UsageError where the sizes do not go together, MachineError without transformers.
    """
    transformers = require_transformers()
    keys = max(heads // QUERIES_A_KEY, 1)
    if dim % (2 * heads) or heads % keys:
        raise UsageError(f"dim is {dim} with {heads} heads: a head needs an even, equal share of dim")
    config = getattr(transformers, CONFIGS[family])(
        vocab_size=vocab,
        hidden_size=dim,
        intermediate_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=keys,
        head_dim=dim // heads,
        max_position_embeddings=longest,
        use_cache=False,
        attn_implementation="sdpa",
        # The defaults are those of the real vocabularies, out of reach of a small one.
        **dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id")),
    )
    return transformers.AutoModelForCausalLM.from_config(config).to(device, dtype).eval()
