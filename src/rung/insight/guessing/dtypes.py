"""The dtype a GEMM multiplies in, where its name or its op's inputs tell it."""

from __future__ import annotations

from rung.names import Decoded
from rung.names.dtypes import dtype_of
from rung.trace import Kernel, Op


def gemm_dtype(kernel: Kernel) -> str | None:
    """The dtype of a GEMM's two matrices, `"fp8_e4m3 x bf16"` where they differ; None if nothing tells.

    The kernel's name comes first, then the input types of the innermost op that recorded some. fp32 matrices
    may be multiplied in TF32, so that fp32 counts only where the name rules it out: ordinary cores (SIMT), or
    an op on a CPU.
    """
    dtype = matrix_dtype(kernel)
    if dtype != "fp32" or kernel.category == "op" or kernel.decoded.fields.get("unit") == "simt":
        return dtype
    return "tf32" if "tf32" in kernel.name.lower() else None


def matrix_dtype(kernel: Kernel) -> str | None:
    """The dtype of its two matrices as they lie in memory, whatever it multiplies in."""
    return _by_name(kernel.decoded) or _by_op(kernel.op)


def _by_name(decoded: Decoded) -> str | None:
    fields = decoded.fields
    if isinstance(said := fields.get("math") or fields.get("dtype"), str):
        return said
    return _product(fields.get("dtype_a"), fields.get("dtype_b"))


def _by_op(op: Op | None) -> str | None:
    while op is not None:
        matrices = _matrix_dtypes(op)
        if matrices:
            return matrices.pop() if len(matrices) == 1 else None
        op = op.parent
    return None


def _matrix_dtypes(op: Op) -> set[str]:
    """Dtypes of the inputs that have two dimensions or more; of all tensors where no shapes were recorded."""
    shapes, found = op.shapes, set()
    for at, word in enumerate(op.dtypes):
        is_matrix = not shapes or (at < len(shapes) and isinstance(shapes[at], list) and len(shapes[at]) >= 2)
        if is_matrix and isinstance(word, str) and (dtype := dtype_of(word)):
            found.add(dtype)
    return found


def _product(a: object, b: object) -> str | None:
    if not isinstance(a, str) or not isinstance(b, str):
        return None
    return a if a == b else f"{a} x {b}"
