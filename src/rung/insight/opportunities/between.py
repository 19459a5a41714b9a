"""Work between matrix products that one kernel for all would keep on the chip: a GLU, an attention."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from rung.insight.opportunities.opportunity import Opportunity
from rung.insight.opportunities.predict import opportunity, unpriced
from rung.insight.opportunities.runs import base, kernels
from rung.insight.opportunities.setting import Setting
from rung.insight.work import Gemm

ACTIVATIONS = ("gelu", "silu", "relu", "sigmoid")


def glus(at: Setting) -> Iterator[Opportunity]:
    """Each gated MLP whose gate and up products are kernels of their own.

    They read one input; an activation and a product lie between them and the down product, and would ride in
    the epilogue of one kernel for both. There is one for a GPU: what it saves cannot be told from a CPU's
    times.
    """
    products = _products(at)
    for (first, gate), (second, up), (down, last) in zip(products, products[1:], products[2:], strict=False):
        if gate != up or (last.m, last.k) != (gate.m, gate.n):
            continue
        inner = [i for i in kernels(at.forward, first, down) if i != second]
        if _gated(at, inner):
            one = opportunity(at, "glu", "GLU", sorted((first, second, *inner)), "rung.glu.GLUMLP")
            yield unpriced(one, "it takes a GPU") if at.stand_in else one


def attentions(at: Setting) -> Iterator[Opportunity]:
    """Each softmax(q @ k.T) @ v written out: the scores would never leave the chip."""
    for (scores, first), (values, second) in pairwise(_products(at)):
        if (first.batch, first.m, first.n) != (second.batch, second.m, second.k):
            continue
        inner = kernels(at.forward, scores, values)
        if _is_softmax(at, inner):
            who = "torch.nn.functional.scaled_dot_product_attention"
            yield opportunity(at, "attention", "attention", [scores, *inner, values], who)


def _is_softmax(at: Setting, inner: list[int]) -> bool:
    """One softmax and what scales, masks or drops scores; a loss has a log_softmax between its products."""
    found = [base(at.rows[i].op) for i in inner if at.rows[i].kind == "softmax"]
    others = {at.rows[i].kind for i in inner} - {"softmax", "pointwise"}
    return len(found) == 1 and "log" not in found[0] and not others


def _products(at: Setting) -> list[tuple[int, Gemm]]:
    """The rows of matrix products, each with what it computes."""
    rows = at.rows
    return [(i, gemm) for i in kernels(at.forward) if (gemm := rows[i].gemm) is not None]


def _gated(at: Setting, inner: list[int]) -> bool:
    """An activation and a product, as two kernels or as one that somebody fused, and nothing else."""
    if not 1 <= len(inner) <= 2 or any(at.rows[i].kind != "pointwise" for i in inner):
        return False
    words = [word for i in inner for word in _words(at, i)]
    return any(a in word for a in ACTIVATIONS for word in words) and any("mul" in word for word in words)


def _words(at: Setting, i: int) -> list[str]:
    row = at.rows[i]
    return [*row.decoded.fields.get("ops", ()), base(row.op).lower(), row.name.lower()]
