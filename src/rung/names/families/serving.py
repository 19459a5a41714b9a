"""Kernels of inference engines: vLLM, SGLang, aiter, TensorRT-LLM, triton_kernels."""

from __future__ import annotations

import re
from typing import Any

from rung.names import cpp
from rung.names.decoded import Decoded, Kind
from rung.names.dtypes import dtype_of
from rung.names.tokens import dims

_FUNCTIONS: tuple[tuple[str, Kind, dict[str, Any]], ...] = (
    (r"(fused_add_)?rms_norm(_static_fp8_quant)?_kernel", "normalization", {"functor": "rms_norm"}),
    (r"add_rmsnorm_quant_kernel|rmsnorm\w*_kernel", "normalization", {"functor": "rms_norm"}),
    (r"RMSNormKernel|FusedAddRMSNormKernel", "normalization", {"functor": "rms_norm"}),
    (r"(batched_)?rotary_embedding_kernel", "pointwise", {"functor": "rope"}),
    (r"act_and_mul_kernel", "pointwise", {}),
    (r"(silu|gelu|gelu_tanh)_and_mul_kernel", "pointwise", {}),
    (
        r"(dynamic_|static_)?(per_token_)?scaled_(fp8|int8)_quant_kernel\w*",
        "pointwise",
        {"functor": "quantize"},
    ),
    (r"quantize_with_block_size\w*", "pointwise", {"functor": "quantize"}),
    (r"reshape_and_cache\w*|store_kvcache", "other", {"functor": "store_kv_cache"}),
    (r"topkGatingSoftmax", "softmax", {}),
)
_SCOPES = {
    "vllm": "vllm",
    "sgl_hip": "sglang",
    "sgl_kernel": "sglang",
    "aiter": "aiter",
    "tensorrt_llm": "trtllm",
    "moe": "trtllm-gen",
    "flashinfer": "flashinfer",
}
_UNSCOPED = {"rotary_embedding_kernel": "vllm", "store_kvcache": "sglang"}
_MATMUL_OGS = re.compile(
    r"_(?P<persistent>p_)?matmul(?:_ogs)?_(?:o[gs]+_)?(?:ptma_)?(?P<layout>[NT]{3})_(?P<dtypes>\w+?x\w+?x\w+?)"
    r"_(?P<blocks>\d+x\d+x\d+x\d+)(?:_(?P<rest>\w+))?"
)


def decode(name: str) -> Decoded | None:
    """A kernel of an inference engine, or None."""
    found = _matmul_ogs(name) or _trtllm_gen(name)
    if found is not None:
        return found
    parsed = cpp.parse(name)
    family = _SCOPES.get(parsed.scope[0]) if parsed.scope else None
    family = family or _UNSCOPED.get(parsed.base)
    if family is None:
        return None
    rest = parsed.args or tuple(filter(None, [parsed.tail]))
    for pattern, kind, fields in _FUNCTIONS:
        if re.fullmatch(pattern, parsed.base):
            dtype = dtype_of(parsed.args[0]) if parsed.args else None
            types = {dtype_of(arg) for arg in parsed.args if not arg.isdigit()} - {None, "bool"}
            if dtype and len(types) == 1:
                return Decoded(name, family, kind, fields | {"dtype": dtype}, rest[1:])
            return Decoded(name, family, kind, dict(fields), rest)
    return Decoded(name, family, "other", {}, (parsed.base, *rest))


def _matmul_ogs(name: str) -> Decoded | None:
    """`_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu`: triton_kernels' grouped product.

    The blocks are M, N, K and the split of K (`make_matmul_repr`); the order of the dtypes varies.
    """
    match = _MATMUL_OGS.fullmatch(name)
    if match is None:
        return None
    *tile, split_k = dims(match["blocks"])
    fields: dict[str, Any] = {"tile": tile, "layout": match["layout"]}
    if split_k > 1:
        fields["split_k"] = split_k
    rest = match["rest"].split("_") if match["rest"] else []
    return Decoded(
        name, "triton-kernels", "gemm", fields, (match["dtypes"], *(word for word in rest if word))
    )


def _trtllm_gen(name: str) -> Decoded | None:
    """`bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_...`: that it is a product, and its `TN`, are sure."""
    if not re.match(r"(bmm|gemm)_(Bfloat16|Fp16|MxE\dm\d|E\dm\d|Fp32)_\w+_t\d+x\d+x\d+", name):
        return None
    words = name.split("_")[1:]
    layout = next((word for word in words if re.fullmatch(r"[TN]{2}", word)), None)
    rest = tuple(word for word in words if word != layout)
    return Decoded(name, "trtllm-gen", "gemm", {"layout": layout} if layout else {}, rest)
