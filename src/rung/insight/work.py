"""How much work an op asks of a kernel: FLOP, bytes, and the tensor it leaves behind.

Counts come from recorded shapes alone. What a shape does not tell is None, never a guess.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from rung import names
from rung.insight.tensors import Tensor, broadcast, inputs
from rung.trace import Kernel, Op


@dataclass(frozen=True, slots=True)
class Gemm:
    """A (batched) matrix product: `batch` times [m, k] @ [k, n]."""

    m: int
    n: int
    k: int
    batch: int = 1

    @property
    def flop(self) -> int:
        """2 m n k a product: one multiplication and one addition for each term."""
        return 2 * self.batch * self.m * self.n * self.k


def gemm_of(op: Op) -> Gemm | None:
    """The matrix product an op computes, from its recorded input shapes."""
    find = _GEMM_INPUTS.get(op.name)
    return find([t.shape for t in inputs(op)]) if find else None


def product_of(kernel: Kernel) -> Gemm | None:
    """The matrix product one kernel computes, from its op's recorded input shapes.

    Rung's gate-up kernel computes two at once; its op covers the down kernel too, so names decide.
    """
    if kernel.op is None or kernel.kind != "gemm":
        return None
    if kernel.family != "rung":
        return gemm_of(kernel.op)
    one = _linear([t.shape for t in inputs(kernel.op)])
    return replace(one, batch=2) if one is not None and kernel.name.startswith("rung_gate_up") else None


def _two_dimensional(a: tuple[int, ...], b: tuple[int, ...]) -> Gemm | None:
    if len(a) == 2 and len(b) == 2 and a[1] == b[0]:
        return Gemm(a[0], b[1], a[1])
    return None


def _batched(a: tuple[int, ...], b: tuple[int, ...]) -> Gemm | None:
    if len(a) == 3 and len(b) == 3 and a[0] == b[0] and a[2] == b[1]:
        return Gemm(a[1], b[2], a[2], a[0])
    return None


def _linear(shapes: list[tuple[int, ...]]) -> Gemm | None:
    if len(shapes) < 2 or len(shapes[1]) != 2 or not shapes[0] or shapes[0][-1] != shapes[1][1]:
        return None
    return Gemm(math.prod(shapes[0][:-1]), shapes[1][0], shapes[1][1])


_GEMM_INPUTS: dict[str, Callable[[list[tuple[int, ...]]], Gemm | None]] = {
    "aten::mm": lambda s: _two_dimensional(s[0], s[1]) if len(s) > 1 else None,
    "aten::addmm": lambda s: _two_dimensional(s[1], s[2]) if len(s) > 2 else None,
    "aten::_addmm_activation": lambda s: _two_dimensional(s[1], s[2]) if len(s) > 2 else None,
    "aten::_scaled_mm": lambda s: _two_dimensional(s[0], s[1]) if len(s) > 1 else None,
    "aten::bmm": lambda s: _batched(s[0], s[1]) if len(s) > 1 else None,
    "aten::baddbmm": lambda s: _batched(s[1], s[2]) if len(s) > 2 else None,
    "aten::linear": _linear,
}


def output_of(op: Op) -> Tensor | None:
    """The tensor an op leaves: exact for matrix products and for pointwise ops, else None.

    A pointwise op's output has its inputs' broadcast shape and, here, their common dtype; with mixed dtypes
    the recording does not tell which one results.
    """
    tensors = inputs(op)
    gemm = gemm_of(op)
    if gemm is not None:
        shape = (gemm.batch, gemm.m, gemm.n) if gemm.batch > 1 else (gemm.m, gemm.n)
        return Tensor(shape, tensors[0].dtype)
    if not tensors or names.decode_op(op.name).kind != "pointwise":
        return None
    dtypes = {t.dtype for t in tensors}
    shape_or_none = broadcast(tensors)
    return Tensor(shape_or_none, dtypes.pop()) if shape_or_none is not None and len(dtypes) == 1 else None


@dataclass(frozen=True, slots=True)
class Work:
    """What a kernel had to do, where its op's shapes tell: FLOP of a matrix product, bytes that a pointwise
    kernel must read and write at least, bytes that a copy or memset moved as recorded."""

    flop: int | None = None
    nbytes: int | None = None


def work_of(kernel: Kernel) -> Work:
    """FLOP and bytes of one kernel; the fields that are not known are None."""
    if kernel.category in ("copy", "memset"):
        moved = kernel.args.get("bytes")
        return Work(nbytes=moved if isinstance(moved, int) and moved >= 0 else None)
    op = kernel.op
    if kernel.category == "op" and kernel.trace.device:
        return Work()  # the GPU work is lost: an op's width here is what its launch took
    if op is None or (kernel.launch is not None and kernel.launch.is_graph):
        return Work()
    if kernel.kind == "gemm":
        gemm = product_of(kernel)
        return Work(flop=gemm.flop if gemm else None)
    if kernel.kind == "pointwise":
        return Work(nbytes=_pointwise_bytes(op))
    return Work()


def _pointwise_bytes(op: Op) -> int | None:
    """Each input read once, the output written once."""
    out = output_of(op)
    return None if out is None else sum(t.nbytes for t in inputs(op)) + out.nbytes
