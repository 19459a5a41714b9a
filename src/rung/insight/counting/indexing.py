"""Looking up and moving rows: what is looked up is read once for each index, the result written once.

A row that several indices name counts as often, though the cache may bring it once.
"""

from __future__ import annotations

import re

from rung.insight.counting.demand import Count, Demand, moved
from rung.insight.tensors import DTYPE_BYTES, Call, Tensor


def _embedding(call: Call) -> Demand | None:
    """`embedding(weight, indices)`"""
    tensors = call.given(0, 1)
    if tensors is None or len(tensors[0].shape) != 2:
        return None
    weight, indices = tensors
    rows = Tensor((*indices.shape, weight.shape[1]), weight.dtype)
    return moved([indices, rows], rows)


def embedding_backward(call: Call) -> Demand | None:
    """`embedding_dense_backward(gradient, indices, ...)`, the kernel that adds each row to its own: the
    gradient's rows and those they are added to read, the latter written."""
    tensors = call.given(0, 1)
    if tensors is None:
        return None
    gradient, indices = tensors
    rows = Tensor(gradient.shape, gradient.dtype)
    return moved([indices, gradient, rows], rows)


def _index_select(call: Call) -> Demand | None:
    """`index_select(x, dim, index)`"""
    tensors, dims = call.given(0, 2), call.numbers(1)
    if tensors is None or not dims or not -len(tensors[0].shape) <= dims[0] < len(tensors[0].shape):
        return None
    x, index = tensors
    dim = dims[0] % len(x.shape)
    rows = Tensor((*x.shape[:dim], index.numel, *x.shape[dim + 1 :]), x.dtype)
    return moved([index, rows], rows)


def _gather(call: Call) -> Demand | None:
    """`gather(x, dim, index)`"""
    tensors = call.given(0, 2)
    if tensors is None:
        return None
    x, index = tensors
    found = Tensor(index.shape, x.dtype)
    return moved([index, found], found)


def _scatter(call: Call) -> Demand | None:
    """`scatter_(x, dim, index, source)`: as many elements of the source as there are indices."""
    tensors = call.given(0, 2)
    if tensors is None:
        return None
    x, index = tensors
    source = [Tensor(index.shape, t.dtype) for t in call.some(3)]
    return moved([index, *source], Tensor(index.shape, x.dtype))


COUNTS: dict[str, Count] = {
    "aten::embedding": _embedding,
    "aten::index_select": _index_select,
    "aten::gather": _gather,
    "aten::scatter_": _scatter,
}

BY_KERNEL: tuple[tuple[str, str, Count], ...] = (
    (r"aten::embedding_dense_backward", r"embedding_backward_feature_kernel", embedding_backward),
)


def cat(call: Call, kernel: str) -> Demand | None:
    """`cat(tensors)`: each is read, and all of them are written. Their dtype is not recorded, but the
    kernel's name has it, or its width."""
    shapes = call.list(0)
    element = re.search(r"CatArrayBatchedCopy\w*<(?:[\w:() ]*OpaqueType<(\d+)u?>|([\w:]+))", kernel)
    if shapes is None or element is None:
        return None
    dtype = _OF_WIDTH.get(element[1]) if element[1] else element[2]
    if dtype not in DTYPE_BYTES:
        return None
    parts = [Tensor(shape, dtype) for shape in shapes]
    return moved(parts, Tensor((sum(part.numel for part in parts),), dtype))


_OF_WIDTH = {"1": "unsigned char", "2": "short", "4": "int", "8": "long", "16": "c10::complex<double>"}
"""Any dtype as wide: only the bytes count."""
