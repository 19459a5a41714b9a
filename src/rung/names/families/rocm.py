"""AMD: Tensile GEMMs, Composable Kernel, MIOpen, and the runtime's own copy and fill kernels."""

from __future__ import annotations

import re
from typing import Any

from rung.names import cpp
from rung.names.decoded import Decoded, Kind
from rung.names.tokens import Rule, dims, sort_out


def decode(name: str) -> Decoded | None:
    """A kernel of AMD's libraries, or None."""
    for decode_family in (_tensile, _composable, _igemm, _miopen, _runtime):
        found = decode_family(name)
        if found is not None:
            return found
    return None


_TENSILE = re.compile(r"(?:Custom_)?Cijk_A(?P<a>il|li)k_B(?P<b>lj|jl)k_(?P<rest>\w+)")
_TENSILE_DTYPES = {"B": "bf16", "H": "fp16", "S": "fp32", "D": "fp64", "C": "complex64", "Z": "complex128"}
_TENSILE_RULES: tuple[Rule, ...] = (
    (r"MT(\d+x\d+x\d+)", lambda m: {"tile": dims(m[1])}),
    (r"ISA([0-9a-f]{3,4})", lambda m: {"arch": f"gfx{m[1]}"}),
)


def _tensile(name: str) -> Decoded | None:
    """`Cijk_Alik_Bljk_BBS_BH_..._MT128x64x32_...`: C[i,j,k] is the sum over l; the first index runs fastest.

    So `Alik` is A transposed and `Ailk` not, `Bljk` is B as it is and `Bjlk` transposed.
    """
    match = _TENSILE.match(name)
    if match is None:
        return None
    layout = ("T" if match["a"] == "li" else "N") + ("N" if match["b"] == "lj" else "T")
    words = [word for word in match["rest"].split("_") if word]
    fields: dict[str, Any] = {"layout": layout}
    # Input, output and accumulator; a two-letter word is one dtype for all and B for batched.
    if words and re.fullmatch(r"[BHSD]{3}", words[0]):
        a, out, accumulate = (_TENSILE_DTYPES[letter] for letter in words.pop(0))
        fields |= {"dtype_a": a, "dtype_b": a, "dtype_out": out, "accumulate": accumulate}
        if a == out:
            fields["dtype"] = a
    elif words and re.fullmatch(r"[HSDCZ]B", words[0]):
        fields["dtype"] = _TENSILE_DTYPES[words.pop(0)[0]]
    known, unknown = sort_out(words, _TENSILE_RULES)
    return Decoded(name, "tensile", "gemm", fields | known, unknown)


_CK_WORDS: tuple[tuple[str, Kind, dict[str, Any]], ...] = (
    (r"Fmha(Fwd|Bwd)?\w*|FmhaFwdKernel", "attention", {}),
    (r"Rmsnorm2dFwd\w*", "normalization", {"functor": "rms_norm", "direction": "forward"}),
    (r"(Add)?Layernorm2dFwd\w*|GridwiseNormalization\w*", "normalization", {}),
    (r"Softmax\w*|GridwiseSoftmax\w*", "softmax", {}),
    (r"\w*[Cc]onv(Fwd|Bwd|_fwd|_bwd)\w*|\w*GroupedConv\w*", "convolution", {}),
    (r"\w*[Gg]emm\w*", "gemm", {}),
    (r"\w*[Rr]educe\w*", "reduction", {}),
    (r"\w*[Ee]lementwise\w*", "pointwise", {}),
)


def _composable(name: str) -> Decoded | None:
    """Composable Kernel: the operation is a template argument of a generic entry (`ck_tile::kentry`)."""
    parsed = cpp.parse(name)
    if parsed.scope[:1] not in (("ck",), ("ck_tile",)):
        return None
    inside = cpp.identifiers(parsed.tail) if parsed.tail else re.findall(r"\w+", " ".join(parsed.args))
    for word in (parsed.base, *inside):
        for pattern, kind, fields in _CK_WORDS:
            if re.fullmatch(pattern, word):
                return Decoded(
                    name,
                    parsed.scope[0],
                    kind,
                    dict(fields),
                    parsed.args or tuple(filter(None, [parsed.tail])),
                )
    return Decoded(name, parsed.scope[0], "other", {}, parsed.args or tuple(filter(None, [parsed.tail])))


_IGEMM = re.compile(r"igemm_(?P<direction>fwd|bwd|wrw)_(?P<rest>\w+)")
_DIRECTIONS = {"fwd": "forward", "bwd": "backward_data", "wrw": "backward_weight"}
_IGEMM_RULES: tuple[Rule, ...] = (
    (r"(nhwc|nchw)", lambda m: {"tensor_layout": m[1]}),
    (r"(fp32|fp16|bf16|int8)", lambda m: {"dtype": m[1]}),
    (r"bt(\d+x\d+x\d+)", lambda m: {"tile": dims(m[1])}),
)


def _igemm(name: str) -> Decoded | None:
    """`igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt128x128x32_...`: MIOpen's implicit-GEMM convolutions."""
    match = _IGEMM.fullmatch(name)
    if match is None:
        return None
    fields, unknown = sort_out(match["rest"].split("_"), _IGEMM_RULES)
    return Decoded(
        name, "miopen", "convolution", {"direction": _DIRECTIONS[match["direction"]]} | fields, unknown
    )


_MIOPEN: tuple[tuple[str, Kind, dict[str, Any]], ...] = (
    (r"MIOpenBatchNorm\w*|MIOpenBNFwd\w*|MIOpenBNBwd\w*", "normalization", {"functor": "batch_norm"}),
    (r"SubTensorOpWithScalar\w*|SubTensorOpWithCastTensor\w*|SubTensorOpWith\w*", "pointwise", {}),
    (r"batched_transpose_\w+", "pointwise", {"functor": "transpose"}),
    (
        r"miopenSp3Asm\w*Conv\w*|miopenGcnAsm\w*Conv\w*|gridwise_convolution_\w+|MIOpenConv\w*",
        "convolution",
        {},
    ),
    (r"Im2d2Col\w*|Col2Im\w*", "other", {"functor": "im2col"}),
    (r"mloPooling\w*", "other", {"functor": "pool"}),
)


def _miopen(name: str) -> Decoded | None:
    base = cpp.parse(name).base
    for pattern, kind, fields in _MIOPEN:
        if re.fullmatch(pattern, base):
            words = tuple(base.split("_")[2:]) if base.startswith("batched_transpose_") else ()
            return Decoded(name, "miopen", kind, dict(fields), words)
    return None


def _runtime(name: str) -> Decoded | None:
    """`__amd_rocclr_copyBuffer`: the HIP runtime copies and fills with kernels of its own."""
    match = re.fullmatch(r"__amd_rocclr_(copy|fill)\w*", name)
    if match is None:
        return None
    return Decoded(name, "rocclr", "pointwise", {"functor": match[1]}, ())
