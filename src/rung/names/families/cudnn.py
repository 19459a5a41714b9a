"""cuDNN: convolutions, their helpers, batch norm, layout changes."""

from __future__ import annotations

import re
from typing import Any

from rung.names import cpp
from rung.names.decoded import Decoded, Kind
from rung.names.dtypes import dtype_of
from rung.names.families.cutlass import read_core
from rung.names.tokens import Rule, dims, sort_out

_SCUDNN = re.compile(r"(?:cudnn_(?:infer_|train_)?)?(?P<arch>[a-z]+)_(?P<letter>[sh])cudnn_(?P<rest>\w+)")
_H884 = re.compile(r"(?:cudnn_(?:infer_|train_)?)?(?P<arch>volta|turing|ampere)_\w*cudnn_\w+")
_RULES: tuple[Rule, ...] = (
    (r"(\d+x\d+)", lambda m: {"tile": dims(m[1])}),
    (r"winograd", lambda m: {"algorithm": "winograd"}),
    (r"splitK", lambda m: {"split_k": True}),
    (r"(fprop)", lambda m: {"direction": "forward"}),
    (r"(nhwc|nchw)", lambda m: {"tensor_layout": m[1]}),
    (r"([tn]{2})", lambda m: {"layout": m[1]}),
)
_FUNCTIONS: tuple[tuple[str, Kind, dict[str, Any]], ...] = (
    (r"bn_fw_tr_\w+", "normalization", {"functor": "batch_norm", "direction": "forward"}),
    (r"bn_fw_inf_\w+", "normalization", {"functor": "batch_norm", "direction": "forward"}),
    (r"bn_bw_\w+", "normalization", {"functor": "batch_norm", "direction": "backward"}),
    (r"nchwToNhwcKernel", "pointwise", {"functor": "copy", "from": "nchw", "to": "nhwc"}),
    (r"nhwcToNchwKernel", "pointwise", {"functor": "copy", "from": "nhwc", "to": "nchw"}),
    (r"scalePackedTensor_kernel", "pointwise", {"functor": "mul"}),
    (r"(implicit|explicit)_convolve_[sh]gemm", "convolution", {}),
    (r"wgrad_alg\d+_engine\w*", "convolution", {"direction": "backward_weight"}),
    (r"dgrad_\w*engine\w*|dgrad2d_\w+", "convolution", {"direction": "backward_data"}),
    (r"reduce_wgrad_\w+", "reduction", {"direction": "backward_weight"}),
    (r"winograd\w+|generateWinogradTilesKernel", "convolution", {"algorithm": "winograd"}),
    (r"im2col4d_kernel", "other", {"functor": "im2col"}),
    (r"compute(Wgrad)?(SplitK|B)?OffsetsKernel(3D)?", "other", {"functor": "offsets"}),
    (r"fft2d_[rc]2[rc]_\w+", "other", {"functor": "fft"}),
)


def decode(name: str) -> Decoded | None:
    """A kernel of cuDNN, or None."""
    match = _SCUDNN.fullmatch(name)
    if match:
        return _scudnn(name, match)
    if _H884.fullmatch(name):
        return _tensor_core(name)
    parsed = cpp.parse(name)
    scope = parsed.scope[0] if parsed.scope else ""
    for pattern, kind, fields in _FUNCTIONS:
        if re.fullmatch(pattern, parsed.base):
            details, unknown = _dtype(parsed)
            return Decoded(name, "cudnn", kind, fields | details, unknown)
    if scope.startswith(("cudnn", "cask_cudnn")):
        return Decoded(name, "cudnn", "other", {}, (parsed.base, *parsed.args, *filter(None, [parsed.tail])))
    return None


def _scudnn(name: str, match: re.Match[str]) -> Decoded:
    """`volta_scudnn_128x64_relu_xregs_large_nn_v1`: fp32 or fp16 convolution without tensor cores."""
    fields, unknown = sort_out(match["rest"].split("_"), _RULES)
    dtype = {"s": "fp32", "h": "fp16"}[match["letter"]]
    return Decoded(name, "cudnn", "convolution", {"arch": match["arch"], "dtype": dtype} | fields, unknown)


def _tensor_core(name: str) -> Decoded:
    """`volta_fp16_s884cudnn_fp16_128x128_ldg8_relu_f2f_exp_small_nhwc_tn_v1`: convolution on tensor cores."""
    words = name.removeprefix("cudnn_").removeprefix("infer_").removeprefix("train_").split("_")
    fields: dict[str, Any] = {"arch": words[0]}
    core_at = next(at for at, word in enumerate(words) if word.endswith("cudnn"))
    core, _ = read_core(words[core_at].removesuffix("cudnn") + "gemm")
    known, unknown = sort_out(words[1:core_at] + words[core_at + 1 :] if core else words[1:], _RULES)
    return Decoded(name, "cudnn", "convolution", fields | core | known, unknown)


def _dtype(parsed: cpp.CppName) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The element type is the first template argument of every kernel above that has type arguments."""
    first = dtype_of(parsed.args[0]) if parsed.args else None
    if first is None or first == "bool":
        return {}, parsed.args
    others = {dtype_of(arg) for arg in parsed.args if dtype_of(arg)} - {first, "int32", "int64"}
    return ({"dtype": first}, parsed.args[1:]) if not others else ({}, parsed.args)
