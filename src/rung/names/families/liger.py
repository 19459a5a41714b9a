"""Liger's Triton kernels, by the names in `liger_kernel.ops`."""

from __future__ import annotations

import re
from typing import Any

from rung.names.decoded import Decoded, Kind

_KERNELS: tuple[tuple[str, Kind, str], ...] = (
    (r"_geglu_tanh_(?:forward|backward)_kernel", "pointwise", "geglu_tanh"),
    (r"_geglu_(?:forward|backward)_kernel_flat", "pointwise", "geglu"),
    (r"_swiglu_(?:forward|backward)_kernel(?:_flat|_tiled)?", "pointwise", "swiglu"),
    (r"_relu_squared_(?:forward|backward)_kernel", "pointwise", "relu_squared"),
    (r"_dyt_(?:fwd|bwd)_kernel", "pointwise", "dyt"),
    (r"_triton_rope|_triton_qwen2vl_mrope|_llama4_rope_kernel|_triton_llama4_rope", "pointwise", "rope"),
    (r"_?element_mul_kernel", "pointwise", "mul"),
    (
        r"(?:_block|_fused_add|_modulated)?_rms_norm_(?:forward|backward)_kernel(?:_no_tiling|_npu)?",
        "normalization",
        "rms_norm",
    ),
    (r"_rms_norm_(?:forward|backward)_(?:row|tiled|fused_2d)", "normalization", "rms_norm"),
    (r"_layer_norm_(?:forward|backward)_(?:kernel|rows?|tiled|fused_2d)", "normalization", "layer_norm"),
    (
        r"_group_norm_(?:forward|backward)\w*_kernel|_group_norm_backward_dx_dwdb_kernel",
        "normalization",
        "group_norm",
    ),
    (r"_poly_norm_(?:forward|backward)_kernel(?:_no_tiling|_npu)?", "normalization", "poly_norm"),
    (r"_softmax_(?:single|multi)_block_(?:forward|backward)_kernel", "softmax", "softmax"),
    (r"_sparsemax_(?:forward|backward)(?:_tiled)?_kernel", "softmax", "sparsemax"),
    (
        r"liger_cross_entropy_kernel|liger_cross_entropy_(?:forward|backward)_kernel\w*",
        "reduction",
        "cross_entropy",
    ),
    (r"_kldiv_kernel_(?:forward|backward)|_jsd_kernel|_tv_distance_kernel", "reduction", "divergence"),
)
_DIRECTION = re.compile(r"_(forward|fwd|backward|bwd)(_|$)")


def decode(name: str) -> Decoded | None:
    """A kernel of Liger, or None."""
    for pattern, kind, functor in _KERNELS:
        if re.fullmatch(pattern, name):
            fields: dict[str, Any] = {"functor": functor}
            direction = _DIRECTION.search(name)
            if direction:
                fields["direction"] = "forward" if direction[1] in ("forward", "fwd") else "backward"
            return Decoded(name, "liger", kind, fields)
    return None
