"""Whether one kernel does the work of several. Standing in their place is no proof."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rung.insight.forward import Forward, WorkRow
from rung.insight.tensors import Tensor, inputs
from rung.insight.work import output_of
from rung.trace import Kernel


def merged_into(into: WorkRow, b: Forward, run: Sequence[WorkRow], a: Forward) -> list[WorkRow]:
    """Which of a run of A's kernels the one in their place in B has taken in, as far as that can be told.

    A compiler's kernel names its ops. Any other must be of another op than theirs, else it is merely another
    tile; then its name or its op's has their words in it (`addmm`, `LigerGELUMulFunction`), or, if it is no
    operator of ATen's, it reads just what they read, without what passes between them.
    """
    named = into.decoded.fields.get("ops")
    if named is not None:
        return [row for row in run if any(_word(op) in named for op in row.path)]
    if into.op in {row.op for row in run}:
        return []
    words = _words(into.name) | _words(into.op or "")
    spoken = [row for row in run if row.op and _word(row.op).strip("_") in words]
    if len(spoken) > 1:
        return spoken if _one_product(into, spoken) else []
    return list(run) if _reads_the_same(b.work_of(into), [a.work_of(row) for row in run]) else []


def _one_product(into: WorkRow, rows: Sequence[WorkRow]) -> bool:
    """Whether a GEMM took in just one matrix product, of its own shape, and any other kernel took in none."""
    products = [row.gemm for row in rows if row.kind == "gemm"]
    if into.kind != "gemm":
        return not products
    return len(products) == 1 and products[0] == into.gemm


def _word(op: str) -> str:
    return op.removeprefix("aten::")


_COMPOUND = {"addmm": ("add", "mm"), "baddbmm": ("add", "bmm"), "activation": ("gelu", "relu")}


def _words(name: str) -> set[str]:
    """The words in a name, lower-case: `LigerGELUMulFunction` has liger, gelu, mul and function."""
    words = {w.lower() for w in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}
    return words.union(*(_COMPOUND.get(word, ()) for word in words))


def _reads_the_same(into: Kernel, kernels: Sequence[Kernel]) -> bool:
    """Whether a kernel's inputs are those of a chain of others, by size and dtype."""
    if into.op is None or into.op.name.startswith("aten::"):
        return False
    chain = handed_on(kernels)
    read = {(t.numel, t.dtype) for t in inputs(into.op)}
    return len(chain.trips) >= len(kernels) - 1 > 0 and read == {(t.numel, t.dtype) for t in chain.read}


@dataclass(frozen=True, slots=True)
class Handed:
    """What kernels pass to one another through memory, as `(bytes, shape, (writer, reader))`, and what they
    read besides."""

    trips: tuple[tuple[int, tuple[int, ...], tuple[str, str]], ...]
    read: tuple[Tensor, ...]


def handed_on(kernels: Sequence[Kernel]) -> Handed:
    """Tensors that one of these kernels writes and a later one reads.

    Each output is matched with the first later input of its size and dtype that no earlier output claimed.
    """
    wanted: list[list[Tensor]] = [inputs(k.op) if k.op else [] for k in kernels]
    found = []
    for i, producer in enumerate(kernels):
        out = output_of(producer.op) if producer.op else None
        if out is None:
            continue
        for j in range(i + 1, len(kernels)):
            reader = next((t for t in wanted[j] if t.numel == out.numel and t.dtype == out.dtype), None)
            if reader is not None:
                wanted[j].remove(reader)
                found.append((out.nbytes, out.shape, (_op_name(producer), _op_name(kernels[j]))))
                break
    return Handed(tuple(found), tuple(tensor for left in wanted for tensor in left))


def _op_name(kernel: Kernel) -> str:
    return kernel.op.name if kernel.op else kernel.name
