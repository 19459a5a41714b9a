"""Ops on lists of tensors: `_foreach_*` and fused optimizers, run by `multi_tensor_apply_kernel`.

One launch takes a share of the chunks that the tensors are cut into (`MultiTensorApply.cuh`), a block each.
How many lists are read and written stands in the functor's template arguments, and so does the dtype, which
is not recorded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from rung.insight.counting.demand import Demand
from rung.insight.tensors import Call, Tensor
from rung.names import cpp
from rung.trace import Kernel

CHUNK = 65536
"""Elements (`kChunkSize`)."""

_CPP_DTYPES = {"c10::BFloat16", "c10::Half", "float", "double", "int", "long", "bool"}
_OPTIMIZERS = {"FusedAdamMathFunctor", "FusedSgdMathFunctor", "FusedAdagradMathFunctor"}
"""`<dtype, lists, ...>`: each list is read, and all but the gradients are written."""

_WRITES_NOTHING = ("LpNormFunctor", "LpMaxFunctor")


def demand(kernel: Kernel, call: Call, siblings: Sequence[Kernel]) -> Demand | None:
    """What one launch of an op on lists moves; `siblings` are all launches of the op, in order."""
    functor = _functor(kernel.name)
    passes = _passes(functor) if functor else None
    shapes = call.list(0)
    if functor is None or passes is None or shapes is None:
        return None
    elements = _share(kernel, shapes, siblings)
    if elements is None:
        return None
    part = Tensor((elements,), functor.args[0])
    reads, writes = passes
    return Demand(None, (part,) * reads, (part,) * writes)


def _functor(name: str) -> cpp.CppName | None:
    """`FusedAdamMathFunctor<c10::BFloat16, 4, ...>` of `multi_tensor_apply_kernel<metadata, functor,
    ...>`."""
    args = cpp.parse(name).args
    found = cpp.parse(args[1]) if len(args) > 1 and "TensorListMetadata" in args[0] else None
    return found if found and found.args and found.args[0] in _CPP_DTYPES else None


def _passes(functor: cpp.CppName) -> tuple[int, int] | None:
    """How many lists are read and written."""
    numbers = [int(arg) for arg in functor.args[1:] if re.fullmatch(r"\d+", arg)]
    if functor.base in _OPTIMIZERS and numbers:
        return numbers[0], numbers[0] - 1
    if functor.base in _WRITES_NOTHING:
        return 1, 0
    if functor.base == "ZeroFunctor":
        return 0, 1
    if re.fullmatch(r"(Unary|Binary|Pointwise|Ternary)Op\w*Functor\w*", functor.base) and len(numbers) == 3:
        return numbers[1], 1  # depth, how many lists are arguments, which one is the result
    return None


def _share(kernel: Kernel, shapes: Sequence[tuple[int, ...]], siblings: Sequence[Kernel]) -> int | None:
    """Elements of each list that a launch sees to: those of its blocks, one chunk a block."""
    sizes = [math.prod(shape) for shape in shapes]
    chunks = sum(map(_chunks, sizes))
    blocks = [_blocks(sibling) for sibling in siblings]
    if len(siblings) == 1 and blocks[0] in (chunks, None):
        return sum(sizes)
    if any(n is None for n in blocks) or sum(n for n in blocks if n) != chunks:
        return None
    first = sum(n for n, sibling in zip(blocks, siblings, strict=True) if n and sibling.row < kernel.row)
    return _between(sizes, first, first + (_blocks(kernel) or 0))


def _between(sizes: Sequence[int], first: int, end: int) -> int:
    """Elements in the chunks from `first` to before `end`, in the order in which tensors are cut up."""
    elements = at = 0
    for size in sizes:
        chunks = _chunks(size)
        low, high = max(first - at, 0), min(end - at, chunks)
        elements += max(min(high * CHUNK, size) - low * CHUNK, 0)
        at += chunks
    return elements


def _chunks(size: int) -> int:
    return -(-size // CHUNK)


def _blocks(kernel: Kernel) -> int | None:
    grid = kernel.args.get("grid")
    return grid[0] if isinstance(grid, list) and grid and isinstance(grid[0], int) else None
