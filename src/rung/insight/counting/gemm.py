"""Matrix products.

2 m n k FLOP: a multiplication and an addition for each term, as `torch.utils.flop_counter.mm_flop` counts.
Each matrix passes through memory once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from rung.insight.counting.demand import SCALAR_TYPES, Count, Demand
from rung.insight.tensors import Call, Tensor, call_of
from rung.trace import Op

Shape = tuple[int, ...]


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

    @property
    def out(self) -> Shape:
        """The shape of what it leaves."""
        return (self.batch, self.m, self.n) if self.batch > 1 else (self.m, self.n)


def gemm_of(op: Op) -> Gemm | None:
    """The matrix product an op computes, from its recorded input shapes."""
    return gemm_in(call_of(op)) if op.name in _PRODUCTS else None


def gemm_in(call: Call) -> Gemm | None:
    """The same, of a call."""
    product = _PRODUCTS.get(call.name)
    matrices = call.given(product.a, product.b) if product else None
    if product is None or matrices is None or call.strange:
        return None
    return product.shaped(matrices[0].shape, matrices[1].shape)


def _matrices(a: Shape, b: Shape) -> Gemm | None:
    """[m, k] @ [k, n]; a vector on either side has no such dimension."""
    if not 1 <= len(a) <= 2 or not 1 <= len(b) <= 2 or a[-1] != b[0]:
        return None
    return Gemm(a[0] if len(a) == 2 else 1, b[1] if len(b) == 2 else 1, a[-1])


def _batches(a: Shape, b: Shape) -> Gemm | None:
    if len(a) == 3 and len(b) == 3 and a[0] == b[0] and a[2] == b[1]:
        return Gemm(a[1], b[2], a[2], a[0])
    return None


def linear(x: Shape, weight: Shape) -> Gemm | None:
    """[..., k] @ [n, k] transposed."""
    if len(weight) != 2 or not x or x[-1] != weight[1]:
        return None
    return Gemm(math.prod(x[:-1]), weight[0], weight[1])


def twice_as_deep(both: Shape, weight: Shape) -> Gemm | None:
    """[..., 2 n] against two weights [n, k], one below the other."""
    return linear(both, (weight[1], 2 * weight[0])) if len(weight) == 2 else None


def _broadcast(a: Shape, b: Shape) -> Gemm | None:
    """`matmul`: the rows of all batches against one matrix, or batch by batch where both have the same
    ones."""
    if len(b) <= 2:
        return _matrices((math.prod(a[:-1]), a[-1]), b) if len(a) > 2 and b else _matrices(a, b)
    if len(a) == len(b) and a[:-2] == b[:-2] and a[-1] == b[-2]:
        return Gemm(a[-2], b[-1], a[-1], math.prod(a[:-2]))
    return None


def _groups(a: Shape, b: Shape) -> Gemm | None:
    """Each row of a 2-d matrix (each column of the other, or each term) belongs to one group, so that all
    groups together multiply as much as one product of that size would."""
    if len(a) == 3 and len(b) == 3:
        return _batches(a, b)
    return Gemm(a[-2], b[-1], a[-1]) if len(a) >= 2 and len(b) >= 2 and a[-1] == b[-2] else None


@dataclass(frozen=True, slots=True)
class _Product:
    """Where an op has its two matrices, the rest that it reads, and the argument that says its output's
    dtype."""

    a: int
    b: int
    shaped: Callable[[Shape, Shape], Gemm | None]
    more: tuple[int, ...] = ()
    out_dtype: int | None = None
    says_always: bool = False


_PRODUCTS = {
    "aten::mm": _Product(0, 1, _matrices, out_dtype=2),
    "aten::mv": _Product(0, 1, _matrices),
    "aten::dot": _Product(0, 1, _matrices),
    "aten::vdot": _Product(0, 1, _matrices),
    "aten::addmm": _Product(1, 2, _matrices, (0,)),
    "aten::addmm_": _Product(1, 2, _matrices, (0,)),
    "aten::addmv": _Product(1, 2, _matrices, (0,)),
    "aten::_addmm_activation": _Product(1, 2, _matrices, (0,)),
    "aten::bmm": _Product(0, 1, _batches, out_dtype=2),
    "aten::baddbmm": _Product(1, 2, _batches, (0,)),
    "aten::baddbmm_": _Product(1, 2, _batches, (0,)),
    "aten::linear": _Product(0, 1, linear, (2,)),
    "aten::matmul": _Product(0, 1, _broadcast),
    "aten::_scaled_mm": _Product(0, 1, _matrices, (2, 3, 4), out_dtype=6, says_always=True),
    "aten::_int_mm": _Product(0, 1, _matrices),
    "aten::_grouped_mm": _Product(0, 1, _groups, (2, 3), out_dtype=4),
    "aten::_scaled_grouped_mm": _Product(0, 1, _groups, (2, 3, 4, 5), out_dtype=7, says_always=True),
}


def _count(call: Call) -> Demand | None:
    gemm = gemm_in(call)
    if gemm is None:
        return None
    product = _PRODUCTS[call.name]
    reads = call.some(product.a, product.b, *product.more)
    dtype = SCALAR_TYPES.get(call.text(product.out_dtype)) if product.out_dtype is not None else None
    if dtype is None:
        dtype = "" if product.says_always else "int" if call.name == "aten::_int_mm" else reads[0].dtype
    return Demand(gemm.flop, tuple(reads), (Tensor(_out(call, gemm), dtype),))


def _out(call: Call, gemm: Gemm) -> Shape:
    """The output's shape: that of the product, but one matrix a group where the terms are what is grouped."""
    offsets = call.tensor(2 if call.name == "aten::_grouped_mm" else 4)
    ranks = [len(t.shape) for t in call.some(0, 1)]
    if "grouped" in call.name and ranks == [2, 2] and offsets is not None:
        return (offsets.numel, gemm.m, gemm.n)
    return gemm.out


COUNTS: dict[str, Count] = dict.fromkeys(_PRODUCTS, _count)
