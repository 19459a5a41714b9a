"""The words kernels use for a dtype, in one spelling."""

from __future__ import annotations

from typing import Any

_SPELLINGS = {
    "fp64": "double f64 fp64",
    "fp32": "float f32 fp32",
    "tf32": "tf32 tfloat32_t cutlass::tfloat32_t",
    "fp16": "half f16 fp16 __half c10::Half at::Half cutlass::half_t _Float16",
    "bf16": "bf16 bfloat16 __nv_bfloat16 c10::BFloat16 at::BFloat16 __hip_bfloat16 hip_bfloat16"
    " cutlass::bfloat16_t bfloat16_t",
    "fp8_e4m3": "e4m3 fp8_e4m3 f8e4m3 c10::Float8_e4m3fn __nv_fp8_e4m3 cutlass::float_e4m3_t",
    "fp8_e5m2": "e5m2 fp8_e5m2 f8e5m2 c10::Float8_e5m2 __nv_fp8_e5m2 cutlass::float_e5m2_t",
    "int64": "long i64 int64 int64_t",
    "int32": "int i32 s32 int32 int32_t",
    "int16": "short int16 int16_t",
    "int8": "i8 s8 int8 int8_t",
    "uint8": "u8 uint8 uint8_t",
    "bool": "bool",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}
_DTYPES = {spelling: dtype for dtype, spellings in _SPELLINGS.items() for spelling in spellings.split()}
_DTYPES |= {"signed char": "int8", "unsigned char": "uint8", "long long": "int64"}

BLAS_LETTERS = {
    "s": "fp32",
    "d": "fp64",
    "h": "fp16",
    "i": "int32",
    "c": "complex64",
    "z": "complex128",
}
"""The letter BLAS puts before `gemm`. cuBLAS and CUTLASS mean the accumulator by it."""


def dtype_of(word: str) -> str | None:
    """The dtype a word or C++ type stands for: `"c10::BFloat16"` -> `"bf16"`; None for any other word."""
    return _DTYPES.get(word.removesuffix(" const").removeprefix("const ").strip())


def the_one_dtype(words: list[str]) -> str | None:
    """The dtype all words share, or None where one differs or is no dtype."""
    found = {dtype_of(word) for word in words}
    return found.pop() if len(found) == 1 else None


def with_shared_dtype(fields: dict[str, Any]) -> dict[str, Any]:
    """Add `dtype` where `dtype_a`, `dtype_b` and `dtype_out` are the same."""
    sides = {fields.get(key) for key in ("dtype_a", "dtype_b", "dtype_out")}
    only = sides.pop() if len(sides) == 1 else None
    return fields | {"dtype": only} if only else fields
