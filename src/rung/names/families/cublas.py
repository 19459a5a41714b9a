"""cuBLAS: `ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn`, gemv, split-K, epilogue."""

from __future__ import annotations

import re
from typing import Any

from rung.names import cpp
from rung.names.decoded import Decoded, Kind
from rung.names.dtypes import BLAS_LETTERS, the_one_dtype
from rung.names.families.cutlass import read_core, take_dtypes
from rung.names.tokens import Rule, dims, sort_out

_GENERATIONS = ("maxwell", "pascal", "volta", "turing", "ampere", "ada", "hopper")
_RULES: tuple[Rule, ...] = (
    (rf"({'|'.join(_GENERATIONS)})", lambda m: {"arch": m[1]}),
    (r"(\d+x\d+)", lambda m: {"tile": dims(m[1])}),
    (r"([tn]{2})", lambda m: {"layout": m[1]}),
    (r"splitK", lambda m: {"split_k": True}),
)
_PLAIN = re.compile(r"(?:[a-z_]*_)?([sdhcz])gemm_\d+x\d+_\w+")


def decode(name: str) -> Decoded | None:
    """A kernel of cuBLAS or cuBLASLt, or None."""
    first = name.split("_", 1)[0]
    if first in _GENERATIONS and "gemm" in name and "scudnn" not in name:
        return _generation(name)
    return _by_function(name)


def _generation(name: str) -> Decoded:
    """The names before Hopper: generation, output dtype, core word, input dtype, tile, ..., layout."""
    parts = name.split("_")
    core_at = next((at for at, word in enumerate(parts) if read_core(word)[0]), None)
    fields: dict[str, Any] = {}
    if core_at is not None:
        fields, _ = read_core(parts[core_at])
        if "instruction" in fields:
            fields["unit"] = "tensorop"
        elif re.fullmatch(r"[sdcz]gemm", parts[core_at]):
            # Without digits there is no matrix instruction: sgemm and dgemm run on the ordinary cores.
            fields["unit"] = "simt"
        fields |= take_dtypes(parts, core_at, fields["accumulate"])
    words = " ".join(parts)
    staged = re.search(r"\bstages (\d+)x(\d+)\b", words)
    if staged:
        parts = (words[: staged.start()] + words[staged.end() :]).split()
    known, unknown = sort_out(parts, _RULES)
    fields |= known
    if staged:
        fields["stages"] = int(staged[2])
        if "tile" in fields:
            fields["tile"] = [*fields["tile"], int(staged[1])]
    return Decoded(name, "cublas", "gemm", fields, unknown)


_FUNCTIONS: tuple[tuple[str, Kind, dict[str, Any]], ...] = (
    (r"(cublasLt::)?splitKreduce_kernel", "reduction", {"split_k": True}),
    (r"(cublasLt::)?epilogue::impl::globalKernel", "pointwise", {"epilogue_only": True}),
    (r"(internal::)?gemvx::kernel", "gemm", {"gemv": True}),
    (r"gemv2[NT]_kernel\w*", "gemm", {"gemv": True}),
    (r"gemvNSP_kernel\w*", "gemm", {"gemv": True}),
    (r"gemv\w*", "gemm", {"gemv": True}),
    (r"gemmSN_[NT]{2}_kernel\w*", "gemm", {}),
    (r"gemmk1_kernel", "gemm", {}),
    (r"magma_[sdcz]gemm\w*_kernel", "gemm", {}),
    (r"[sdcz]gemm_largek\w*", "gemm", {}),
    (r"dot_kernel", "reduction", {"functor": "dot"}),
    (r"reduce_1Block_kernel", "reduction", {}),
    (r"scal_kernel", "pointwise", {"functor": "mul"}),
)
_LAYOUT = re.compile(r"gemmSN_([NT]{2})_|gemv2([NT])_")
_LETTER = re.compile(r"(?:magma_)?([sdcz])gemm")


def _by_function(name: str) -> Decoded | None:
    parsed = cpp.parse(name)
    known = next((entry for entry in _FUNCTIONS if re.fullmatch(entry[0], parsed.path)), None)
    if known is None:
        return None
    _, kind, fields = known
    found = dict(fields)
    layout, letter = _LAYOUT.match(parsed.base), _LETTER.match(parsed.base)
    if layout:
        found["layout"] = (layout[1] or layout[2]).lower()
    types = [arg for arg in parsed.args if re.fullmatch(r"(float|double|__half|__nv_bfloat16|half)", arg)]
    dtype = BLAS_LETTERS[letter[1]] if letter else the_one_dtype(types)
    if dtype:
        found["dtype"] = dtype
        types = [arg for arg in parsed.args if the_one_dtype([arg]) == dtype]
    else:
        types = []
    return Decoded(name, "cublas", kind, found, _rest(parsed, types))


def _rest(parsed: cpp.CppName, read: list[str]) -> tuple[str, ...]:
    rest = tuple(arg for arg in parsed.args if arg not in read)
    return (*rest, parsed.tail) if parsed.tail else rest
