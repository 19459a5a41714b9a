"""Bias and residual adds that a product could do as it writes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from rung.insight.opportunities.opportunity import Opportunity
from rung.insight.opportunities.predict import opportunity
from rung.insight.opportunities.runs import base, kernels
from rung.insight.opportunities.setting import Setting
from rung.insight.tensors import Tensor

IN_PLACE = "residual.addmm_(x, weight.t()), in place (torch.addmm copies the residual first)"
"""`01_matmul_add_4096_bf16_warm_compile`, an H200: aten::addmm copies a bias of 33.6 MB for 15.3 us."""


def epilogues(at: Setting) -> Iterator[Opportunity]:
    """Each add right behind the product whose result it reads: a bias, or a residual."""
    for product, add in pairwise(kernels(at.forward)):
        if at.rows[product].gemm is None or base(at.rows[add].op) != "add":
            continue
        read = next((p for p in at.tensors.received[add] if p.writer == product and not p.again), None)
        other = _other(at.tensors.reads[add], read.tensor) if read else None
        if read is not None and other is not None:
            residual = other.numel == read.tensor.numel
            what = "residual add" if residual else "bias add"
            who = IN_PLACE if residual else "nn.Linear with its bias"
            yield opportunity(at, "epilogue", what, (product, add), who)


def _other(reads: tuple[Tensor, ...], result: Tensor) -> Tensor | None:
    """What is added: as large as the result, or one number a column."""
    left = list(reads)
    left.remove(result)
    if len(left) != 1:
        return None
    fits = left[0].numel in (result.numel, result.shape[-1] if result.shape else 1)
    return left[0] if fits else None
