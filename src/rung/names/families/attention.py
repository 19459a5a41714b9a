"""Attention kernels: FlashAttention, memory-efficient, cuDNN, AOTriton, trtllm-gen, vLLM, flashinfer."""

from __future__ import annotations

import re
from typing import Any

from rung.names import cpp
from rung.names.decoded import Decoded
from rung.names.dtypes import dtype_of
from rung.names.tokens import Rule, dims, sort_out

_BACKWARD = re.compile(r"bwd|backward|bprop", re.IGNORECASE)


def decode(name: str) -> Decoded | None:
    """An attention kernel, or None."""
    for decode_family in (_cutlass, _cudnn, _flash, _by_function):
        found = decode_family(name)
        if found is not None:
            return found
    return None


_EFFICIENT = re.compile(r"fmha_cutlass([FB])_(\w+)")
_EFFICIENT_RULES: tuple[Rule, ...] = (
    (r"(f32|f16|bf16)", lambda m: {"dtype": dtype_of(m[1])}),
    (r"(\d+x\d+)", lambda m: {"tile": dims(m[1])}),
    (r"sm(\d+)", lambda m: {"arch": f"sm_{m[1]}"}),
    (r"dropout", lambda m: {"dropout": True}),
)


def _cutlass(name: str) -> Decoded | None:
    """`fmha_cutlassF_bf16_aligned_64x64_rf_sm80(...)`: PyTorch's memory-efficient attention, F or B."""
    match = _EFFICIENT.match(cpp.parse(name).base)
    if match is None:
        return None
    fields, unknown = sort_out(match[2].split("_"), _EFFICIENT_RULES)
    direction = "forward" if match[1] == "F" else "backward"
    return Decoded(name, "efficient-attention", "attention", {"direction": direction} | fields, unknown)


_CUDNN = re.compile(r"(cudnn_generated_fort_native_sdpa)_(\w+)")
_CUDNN_RULES: tuple[Rule, ...] = (
    (r"sm(\d+)", lambda m: {"arch": f"sm_{m[1]}"}),
    (r"fprop", lambda m: {"direction": "forward"}),
    (r"bprop", lambda m: {"direction": "backward"}),
    (r"flash", lambda m: {"algorithm": "flash"}),
    (r"wgmma", lambda m: {"unit": "wgmma"}),
    (r"cga(\d+x\d+x\d+)", lambda m: {"cluster": dims(m[1])}),
)


def _cudnn(name: str) -> Decoded | None:
    """`cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_...`: `f16` is written for bf16 too."""
    match = _CUDNN.match(name)
    if match is None:
        return None
    fields, unknown = sort_out(match[2].split("_"), _CUDNN_RULES)
    return Decoded(name, "cudnn", "attention", fields, unknown)


_TRAITS = ("Flash_fwd_kernel_traits", "Flash_bwd_kernel_traits")


def _flash(name: str) -> Decoded | None:
    """`flash_fwd_kernel<..._traits<head dim, tile m, tile n, warps, ...>, dropout, causal, ...>`."""
    parsed = cpp.parse(name)
    if not re.match(r"flash_(fwd|bwd)_\w+", parsed.base):
        return _flash3(name, parsed)
    fields: dict[str, Any] = {"direction": "backward" if "_bwd_" in parsed.base else "forward"}
    if not parsed.args:
        return Decoded(name, "flash-attention", "attention", fields, (parsed.tail,) if parsed.tail else ())
    traits, *rest = parsed.args
    fields |= _traits(traits)
    # Every version since 2.0 begins the flags of the main kernels with these two.
    if parsed.base in ("flash_fwd_kernel", "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel") and len(rest) >= 2:
        fields |= {"dropout": rest[0] == "true", "causal": rest[1] == "true"}
        rest = rest[2:]
    return Decoded(name, "flash-attention", "attention", fields, tuple(rest))


def _traits(text: str) -> dict[str, Any]:
    parsed = cpp.parse(text)
    if (
        parsed.base not in _TRAITS
        or len(parsed.args) < 4
        or not all(arg.isdigit() for arg in parsed.args[:4])
    ):
        return {}
    head_dim, tile_m, tile_n, warps = map(int, parsed.args[:4])
    fields: dict[str, Any] = {"head_dim": head_dim, "tile": [tile_m, tile_n], "warps": warps}
    dtype = next((found for arg in parsed.args[4:] if (found := dtype_of(arg)) and arg != "bool"), None)
    return fields | ({"dtype": dtype} if dtype else {})


def _flash3(name: str, parsed: cpp.CppName) -> Decoded | None:
    """FlashAttention 3: `cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<...> > >`."""
    match = re.search(r"FlashAttn(Fwd|Bwd)\w*?Sm(\d+)", name)
    if match is None:
        return None
    direction = "forward" if match[1] == "Fwd" else "backward"
    fields = {"arch": f"sm_{match[2]}", "direction": direction}
    return Decoded(
        name, "flash-attention", "attention", fields, parsed.args or tuple(filter(None, [parsed.tail]))
    )


_FUNCTIONS: tuple[tuple[str, str], ...] = (
    (r"attn_fwd|bwd_kernel_(dk_dv|dq|fuse)|attn_bwd\w*|bwd_preprocess\w*", "triton-attention"),
    (
        r"_attn_(fwd|bwd)\w*|_flash_attention\w*|_fwd_grouped_kernel_stage[12]|_fwd_kernel_stage[12]",
        "triton-attention",
    ),
    (r"fused_attention\w*", "triton-attention"),
    (r"kernel_unified_attention_[23]d", "vllm"),
    (r"(vllm::)?paged_attention_\w+", "vllm"),
    (r"fmhaSm\d+a?f?Kernel_\w+", "trtllm-gen"),
    (r"fmha_v2_\w+", "trtllm"),
    (r"(flashinfer::)?(Batch|Single)(Prefill|Decode)With\w*KVCache\w*", "flashinfer"),
    (r"(flashinfer::)?(PersistentVariableLengthMergeStates|MergeStates?)\w*", "flashinfer"),
    (r"(aiter::)?fmha_(fwd|bwd)\w*", "aiter"),
)
_ARCH = re.compile(r"fmhaSm(\d+)")


def _by_function(name: str) -> Decoded | None:
    parsed = cpp.parse(name)
    for pattern, family in _FUNCTIONS:
        if not (re.fullmatch(pattern, parsed.base) or re.fullmatch(pattern, parsed.path)):
            continue
        fields: dict[str, Any] = {}
        arch = _ARCH.match(parsed.base)
        if arch:
            fields["arch"] = f"sm_{arch[1]}"
        if _BACKWARD.search(parsed.base):
            fields["direction"] = "backward"
        elif re.search(r"fwd|prefill|decode", parsed.base, re.IGNORECASE):
            fields["direction"] = "forward"
        words = tuple(parsed.base.split("_")[1:]) if family.startswith("trtllm") else parsed.args
        return Decoded(name, family, "attention", fields, (*words, *filter(None, [parsed.tail])))
    return None
