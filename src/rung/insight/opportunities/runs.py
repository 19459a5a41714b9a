"""Neighbours in a forward: the rows between two matrix products, the product after a product."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rung.insight.forward import Forward, WorkRow

MERGEABLE = ("pointwise", "reduction", "normalization", "softmax")


def mergeable(row: WorkRow) -> bool:
    """Whether a compiler could take this kernel into another: what somebody fused already is left alone."""
    return row.kind in MERGEABLE and row.category in ("kernel", "op") and row.decoded.family not in _FUSED


_FUSED = ("inductor", "liger", "rung", "triton")


def runs(forward: Forward, wanted: Callable[[WorkRow], bool]) -> Iterable[list[int]]:
    """The longest stretches of wanted rows; memsets do not break one."""
    run: list[int] = []
    for i, row in enumerate(forward.rows):
        if wanted(row):
            run.append(i)
        elif row.category != "memset":
            yield run
            run = []
    yield run


def kernels(forward: Forward, after: int = -1, before: int | None = None) -> list[int]:
    """The rows between two that are no copies or memsets."""
    rows = forward.rows
    last = len(rows) if before is None else before
    return [i for i in range(after + 1, last) if rows[i].category in ("kernel", "op")]


def base(op: str | None) -> str:
    """`aten::gelu` -> `gelu`, in place or not."""
    return (op or "").removeprefix("aten::").removesuffix("_")
