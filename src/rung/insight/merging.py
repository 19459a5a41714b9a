"""Whether one kernel does the work of several. Standing in their place is no proof."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from rung.insight.flow import Flow
from rung.insight.forward import Forward, WorkRow
from rung.insight.sources import key_of
from rung.insight.tensors import Tensor, inputs


def taken_in(b: Forward, into: int, a: Forward, run: Sequence[int], tensors: Callable[[], Flow]) -> list[int]:
    """Which rows of a run of A's the row of B in their place has taken in, as far as that can be told.

    A compiler's kernel names its ops, of which those that hand on tensors count; one that reduces stands
    for no pointwise work alone. Any other must be of another op than theirs, else it is merely another
    tile; then its name or its op's has their words in it (`addmm`, `LigerGELUMulFunction`), or, if it is no
    operator of ATen's, it reads just what they read, without what passes between them (A's `tensors`, which
    are followed only where nothing else decides).
    """
    row, rows = b.rows[into], [(i, a.rows[i]) for i in run]
    if "ops" in row.decoded.fields:
        return _named_by(row, a, run, tensors)
    if row.op in {one.op for _, one in rows}:
        return []
    words = _words(row.name) | _words(row.op or "")
    spoken = [(i, one) for i, one in rows if one.op and set(_word(one.op).split("_")) - {""} <= words]
    if len(spoken) > 1:
        return [i for i, _ in spoken] if _one_product(row, [one for _, one in spoken]) else []
    op = b.example.work[into].op
    if op is None or op.name.startswith("aten::"):
        return []
    return list(run) if _reads_the_same(inputs(op), run, tensors()) else []


def _named_by(into: WorkRow, a: Forward, run: Sequence[int], tensors: Callable[[], Flow]) -> list[int]:
    """The rows whose ops a kernel names, or ops around them."""
    named, backward = into.decoded.fields["ops"], into.decoded.fields.get("direction") == "backward"
    found = [i for i in run if any(_is_named(_word(op), named, backward) for op in a.rows[i].path)]
    taken = _in_one_chain(found, tensors()) if len(found) > 1 else found
    return taken if into.kind == "pointwise" or {a.rows[i].kind for i in taken} != {"pointwise"} else []


def _in_one_chain(rows: Sequence[int], tensors: Flow) -> list[int]:
    """Without those that share no tensor with most of them, as far as that is known: the same ops may stand
    elsewhere as well."""
    groups = tensors.linked(rows)
    largest: Sequence[int] = max(groups, key=lambda group: len(group)) if groups else rows
    chain = frozenset(largest)
    return [i for i in rows if i in chain or not tensors.reads[i]]


def _is_named(op: str, named: Collection[str], backward: bool) -> bool:
    """Whether an op is one of those named; the gradient of one of them, in a kernel of a backward pass."""
    forward = op.removesuffix("_backward")
    return op in named or (backward and any(one.split("_")[0] == forward for one in named))


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


def _reads_the_same(read: Sequence[Tensor], run: Sequence[int], tensors: Flow) -> bool:
    """Whether these are the inputs of a chain of kernels, by size and dtype."""
    linked = len(tensors.handed_on(run)) >= len(run) - 1 > 0
    return linked and set(map(key_of, read)) == set(map(key_of, tensors.from_outside(run)))
