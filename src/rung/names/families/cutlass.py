"""`cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_32x1_tn_align8`, bare or inside `Kernel2<...>`.

The order of the words is that of CUTLASS's own generator (`python/cutlass_library/gemm_operation.py`):
output dtype, then the accumulator's letter with the instruction, then the dtype of A and B; a dtype that
equals the accumulator's is left out. `relu` names the kernel's epilogue functor, and cuBLAS runs such
kernels for products without a ReLU too, so it stays as it is.
"""

from __future__ import annotations

import re
from typing import Any

from rung.names import cpp
from rung.names.decoded import Decoded, Kind
from rung.names.dtypes import BLAS_LETTERS, dtype_of, with_shared_dtype
from rung.names.tokens import INSTRUCTIONS, Rule, dims, sort_out

CORE = re.compile(r"([sdhicz])(\d*)(tf32|bf16|f16)?(gemm|fprop|dgrad|wgrad)")
_DIRECTIONS = {"fprop": "forward", "dgrad": "backward_data", "wgrad": "backward_weight"}
_PROCEDURAL = re.compile(r"cutlass(?:3x)?_(?:(?:sm)?\d+_)?(?:wmma_)?(?:tensorop|simt|wmma)_\w+")
_RULES: tuple[Rule, ...] = (
    (r"(\d{2,3})", lambda m: {"arch": f"sm_{m[1]}"}),
    (r"(tensorop|simt)", lambda m: {"unit": m[1]}),
    (r"wmma", lambda m: {"wmma": True}),
    (r"(\d+x\d+)", lambda m: {"tile": dims(m[1])}),
    (r"([tn]{2})", lambda m: {"layout": m[1]}),
    (r"(nhwc|nchw)", lambda m: {"tensor_layout": m[1]}),
    (r"align(\d+)", lambda m: {"align": int(m[1])}),
)


def decode(name: str) -> Decoded | None:
    """A CUTLASS GEMM or convolution, or None."""
    found = _PROCEDURAL.search(name)
    if found:
        words = found[0]
        return _three(name, words) if words.startswith("cutlass3x_") else _two(name, words)
    if "cutlass" not in name:
        return None
    return _by_type(name)


def _two(name: str, words: str) -> Decoded:
    """CUTLASS 2: the dtypes stand around the core word; one `256x128_64x3` gives tile, depth and stages."""
    parts = words.split("_")[1:]
    core_at = next((at for at, word in enumerate(parts) if CORE.fullmatch(word)), None)
    fields: dict[str, Any] = {}
    direction = None
    if core_at is not None:
        core, direction = read_core(parts[core_at])
        fields |= core
        fields |= take_dtypes(parts, core_at, fields.get("accumulate"))
    joined = " ".join(parts)
    staged = re.search(r"(\d+)x(\d+) (\d+)x(\d+)", joined)
    rest = parts
    if staged:
        rest = (joined[: staged.start()] + joined[staged.end() :]).split()
    sorted_fields, unknown = sort_out(rest, _RULES)
    fields |= sorted_fields
    if staged:
        m, n, k, stages = map(int, staged.groups())
        fields |= {"tile": [m, n, k], "stages": stages}
    kind: Kind = "convolution" if direction else "gemm"
    return Decoded(name, "cutlass", kind, fields | ({"direction": direction} if direction else {}), unknown)


def read_core(word: str) -> tuple[dict[str, Any], str | None]:
    """`s16816gemm` -> accumulator and instruction; and the direction where it is a convolution's word."""
    match = CORE.fullmatch(word)
    if match is None:
        return {}, None
    letter, digits, between, what = match.groups()
    fields: dict[str, Any] = {"accumulate": BLAS_LETTERS[letter]}
    if digits in INSTRUCTIONS:
        fields["instruction"] = INSTRUCTIONS[digits]
    math = dtype_of(between or "")
    if math:
        fields["math"] = math
    return fields, _DIRECTIONS.get(what)


def take_dtypes(parts: list[str], core_at: int, accumulate: str | None) -> dict[str, Any]:
    """Remove the core word and the dtypes around it from `parts`; give `dtype_a`, `dtype_b`, `dtype_out`."""
    before = core_at - 1
    after = next((at for at in range(core_at + 1, min(core_at + 3, len(parts))) if dtype_of(parts[at])), None)
    if (
        after is not None
        and after == core_at + 2
        and parts[core_at + 1] not in ("relu", "optimized", "analytic")
    ):
        after = None
    out = dtype_of(parts[before]) if before >= 0 else None
    inputs = dtype_of(parts[after]) if after is not None else None
    for at in sorted(
        (at for at in (after, core_at, before if out else None) if at is not None), reverse=True
    ):
        del parts[at]
    sides = {"dtype_a": inputs or accumulate, "dtype_b": inputs or accumulate, "dtype_out": out or accumulate}
    return with_shared_dtype({key: dtype for key, dtype in sides.items() if dtype})


_SM: Rule = (r"sm(\d+)a?", lambda m: {"arch": f"sm_{m[1]}"})
_THREE = re.compile(
    r"cutlass3x_sm(?P<arch>\d+)a?_(?P<unit>\w+?)_(?P<letter>[sdhi])(?P<instruction>\d+x\d+x\d+)(?P<kind>[a-z]+)"
    r"_(?P<a>[a-z0-9]+)_(?P<b>[a-z0-9]+)_(?P<acc>[a-z0-9]+)_(?P<c>[a-z0-9]+)_(?P<d>[a-z0-9]+)"
    r"_(?P<tile>\d+x\d+x\d+)_(?P<cluster>\d+x\d+x\d+)_(?P<stages>\d+)_(?P<layout>[tn]+)(?:_align(?P<align>\d+))?"
    r"(?P<rest>\w*)"
)


def _three(name: str, words: str) -> Decoded:
    """CUTLASS 3: A, B, accumulator, C and D dtypes, tile, cluster, stages (0: as many as fit), layout."""
    match = _THREE.fullmatch(words)
    if match is None:
        known, unknown = sort_out(words.split("_")[1:], (*_RULES, _SM))
        return Decoded(name, "cutlass", "gemm", known, unknown)
    fields: dict[str, Any] = {
        "arch": f"sm_{match['arch']}",
        "unit": match["unit"],
        "dtype_a": dtype_of(match["a"]) or match["a"],
        "dtype_b": dtype_of(match["b"]) or match["b"],
        "accumulate": dtype_of(match["acc"]) or match["acc"],
        "dtype_out": dtype_of(match["d"]) or match["d"],
        "instruction": dims(match["instruction"]),
        "tile": dims(match["tile"]),
        "cluster": dims(match["cluster"]),
        "layout": match["layout"],
    }
    if int(match["stages"]):
        fields["stages"] = int(match["stages"])
    if match["align"]:
        fields["align"] = int(match["align"])
    kind: Kind = "gemm"
    if match["kind"] in _DIRECTIONS:
        kind = "convolution"
        fields["direction"] = _DIRECTIONS[match["kind"]]
    rest = tuple(word for word in match["rest"].split("_") if word)
    return Decoded(name, "cutlass", kind, with_shared_dtype(fields), rest)


_TYPE_WORDS: tuple[tuple[str, Kind, dict[str, Any]], ...] = (
    ("ReduceSplitK", "reduction", {"split_k": True}),
    ("Conv2dFprop", "convolution", {"direction": "forward"}),
    ("Conv2dDgrad", "convolution", {"direction": "backward_data"}),
    ("Conv2dWgrad", "convolution", {"direction": "backward_weight"}),
    ("ImplicitGemmConvolution", "convolution", {}),
    ("GemmUniversal", "gemm", {}),
    ("GemmGrouped", "gemm", {}),
    ("kernel::Gemm", "gemm", {}),
    ("CollectiveMma", "gemm", {}),
)


def _by_type(name: str) -> Decoded | None:
    """`cutlass::Kernel<cutlass::gemm::kernel::GemmUniversal<...>>`: only the word that says what it is."""
    parsed = cpp.parse(name)
    if not parsed.path.startswith("cutlass") or parsed.base not in ("Kernel", "Kernel2", "device_kernel"):
        return None
    inside = parsed.tail or " ".join(parsed.args)
    for word, kind, fields in _TYPE_WORDS:
        if word in inside:
            return Decoded(name, "cutlass", kind, dict(fields), parsed.args or (parsed.tail,))
    return None
