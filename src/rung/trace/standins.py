"""Which ops stand in for kernels on a trace without device work."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rung import names
from rung.trace.tables import Ints

OPAQUE = frozenset({"gemm", "attention", "convolution", "normalization", "softmax"})
"""Kinds whose ops do one piece of work, whatever small ops they call on the way (`addmm` copies its bias)."""

COPYING = frozenset(f"aten::{name}" for name in ("copy_", "_to_copy", "clone", "fill_", "zero_"))
"""Ops that only move or set bytes. An op that computes calls them on its own behalf: `mul` converts a number,
`sum` clears its result."""


def stand_ins(name: list[str], parent: Ints) -> Ints:
    """Rows of the innermost compute ops, given each op's name and parent row (parents come first).

    Metadata ops are no compute ops. A copy inside an innermost op that computes is a part of it. An opaque op
    stands for all that happens inside it, unless an opaque op inside does the same work: `aten::linear` calls
    `aten::addmm`.
    """
    kinds = {n: _kind(n) for n in dict.fromkeys(name)}
    compute = np.array([kinds[n] is not None for n in name], dtype=bool)
    opaque = np.array([kinds[n] in OPAQUE for n in name], dtype=bool)
    holds_compute = _has_descendant(parent, compute)
    holds_opaque = _has_descendant(parent, opaque)
    copying = np.array([n in COPYING for n in name], dtype=bool)
    computes = compute & ~copying
    innermost = computes & ~_has_descendant(parent, computes)
    moves = copying & ~holds_compute & ~_has_ancestor(parent, innermost)
    chosen = np.where(opaque, ~holds_opaque, innermost | moves)
    inside_opaque = _has_ancestor(parent, opaque & chosen)
    return np.flatnonzero(chosen & ~inside_opaque)


def _kind(name: str) -> str | None:
    """The kind of work an op does by itself; None for metadata ops and names that are no operator's."""
    if names.is_metadata_op(name):
        return None
    decoded = names.decode_op(name)
    return decoded.kind if decoded.family != "unknown" else None


def _has_descendant(parent: Ints, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    found = np.zeros(len(parent), dtype=bool)
    for row in range(len(parent) - 1, -1, -1):  # children come after their parents
        if parent[row] >= 0 and (wanted[row] or found[row]):
            found[parent[row]] = True
    return found


def _has_ancestor(parent: Ints, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    found = np.zeros(len(parent), dtype=bool)
    for row in range(len(parent)):
        above = parent[row]
        if above >= 0 and (wanted[above] or found[above]):
            found[row] = True
    return found
