"""Attention, forward and backward.

Two products forward (scores, values), five backward (scores once more, and the gradients of values, weights,
queries and keys): `torch.utils.flop_counter.sdpa_flop_count` and `sdpa_backward_flop_count`. Under a causal
mask half of it is counted, as FlashAttention's benchmarks do
(https://github.com/Dao-AILab/flash-attention/blob/main/benchmarks/benchmark_flash_attention.py), which that
counter does not. A mask given as a tensor is read and spares nothing. Statistics of some bytes a row are left
out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rung.insight.counting.demand import Count, Demand
from rung.insight.tensors import Call, Tensor

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Places:
    """Where an op has its causal flag, bias, offsets of ragged batches, output, window; whether heads come
    before the sequence, as in SDPA, or behind it, as in FlashAttention."""

    causal: int
    bias: int | None = None
    offsets: int | None = None
    out: int | None = None
    heads_first: bool = True
    window: tuple[int, ...] = ()
    causal_means: Callable[[str], bool | None] = {"True": True, "False": False}.get


def _mask_type(text: str) -> bool | None:
    """`custom_mask_type`: 0 none, 1 causal from the upper left (2, from the lower right, is the same where
    both sequences are as long)."""
    return {"0": False, "1": True, "2": True}.get(text)


_FORWARD = {
    "aten::scaled_dot_product_attention": _Places(5, 3),
    "aten::_scaled_dot_product_flash_attention": _Places(4),
    "aten::_scaled_dot_product_flash_attention_for_cpu": _Places(4, 5),
    "aten::_scaled_dot_product_efficient_attention": _Places(6, 3),
    "aten::_scaled_dot_product_cudnn_attention": _Places(6, 3),
    "aten::_scaled_dot_product_fused_attention_overrideable": _Places(5, 3),
    "aten::_flash_attention_forward": _Places(8, None, 3, heads_first=False, window=(11, 12)),
    "aten::_efficient_attention_forward": _Places(
        9, 3, 4, heads_first=False, window=(13,), causal_means=_mask_type
    ),
    "aten::_cudnn_attention_forward": _Places(10, 3, 4),
}
_BACKWARD = {
    "aten::_scaled_dot_product_flash_attention_backward": _Places(11, None, 6, 4),
    "aten::_scaled_dot_product_flash_attention_for_cpu_backward": _Places(7, 8, None, 4),
    "aten::_scaled_dot_product_efficient_attention_backward": _Places(11, 4, None, 5),
    "aten::_scaled_dot_product_cudnn_attention_backward": _Places(14, 8, 9, 4),
    "aten::_scaled_dot_product_fused_attention_overrideable_backward": _Places(13, 4, 8, 6),
    "aten::_flash_attention_backward": _Places(11, None, 6, 4, heads_first=False, window=(15, 16)),
    "aten::_efficient_attention_backward": _Places(
        14, 4, 6, 5, heads_first=False, window=(18,), causal_means=_mask_type
    ),
    "aten::_cudnn_attention_backward": _Places(14, 8, 9, 4),
}


def _forward(call: Call) -> Demand | None:
    places, tensors = _FORWARD[call.name], call.given(0, 1, 2)
    products = _products(call, places, tensors)
    if tensors is None or products is None:
        return None
    scores, values = products
    bias = call.some(places.bias) if places.bias is not None else []
    q, v = tensors[0], tensors[2]
    out = Tensor((*q.shape[:-1], v.shape[-1]), q.dtype)
    return Demand(scores + values, (*tensors, *bias), (out,))


def _backward(call: Call) -> Demand | None:
    places, tensors = _BACKWARD[call.name], call.given(1, 2, 3)
    products = _products(call, places, tensors)
    more = call.given(0, places.out) if places.out is not None else None
    if tensors is None or products is None or more is None:
        return None
    scores, values = products
    bias = call.some(places.bias) if places.bias is not None else []
    gradients = tuple(Tensor(t.shape, t.dtype) for t in tensors)
    return Demand(3 * scores + 2 * values, (*tensors, *more, *bias), gradients)


def _products(call: Call, places: _Places, tensors: list[Tensor] | None) -> tuple[int, int] | None:
    """FLOP of queries times keys, and of weights times values; None for ragged batches, paged keys,
    windows."""
    causal = places.causal_means(call.text(places.causal))
    ragged = places.offsets is not None and any(t.numel for t in call.some(places.offsets))
    windowed = any(call.text(at) not in ("", "None", "-1") for at in places.window)
    if tensors is None or causal is None or ragged or windowed or any(len(t.shape) != 4 for t in tensors):
        return None
    q, k, v = (t.shape if places.heads_first else _heads_first(t.shape) for t in tensors)
    (batch, heads, rows, width), (_, key_heads, columns, _) = q, k
    if k[:3] != v[:3] or k[0] != batch or k[3] != width or not key_heads or heads % key_heads:
        return None
    if causal and rows != columns:
        return None  # which corner the mask starts from differs from library to library
    seen = batch * heads * rows * columns
    halves = 2 if causal else 1
    return 2 * seen * width // halves, 2 * seen * v[3] // halves


def _heads_first(shape: Shape) -> Shape:
    """[batch, sequence, heads, width] as SDPA has it."""
    return (shape[0], shape[2], shape[1], shape[3])


COUNTS: dict[str, Count] = {**dict.fromkeys(_FORWARD, _forward), **dict.fromkeys(_BACKWARD, _backward)}
