"""What each kernel had to do, from its op's recorded shapes: one file a family of ops.

Everything here is a pure function of one call, or of a call and a kernel's name. What a recording does not
tell is None, never a guess. docs/roofline.md says what is counted how.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from rung.insight.counting import (
    attention,
    convolution,
    gemm,
    indexing,
    inductor,
    libraries,
    lists,
    normalization,
    pointwise,
    reduction,
)
from rung.insight.counting.demand import Count, Demand
from rung.insight.tensors import Call, call_of
from rung.names.operator_table import kind_of_op
from rung.trace import Kernel, Op

_COUNTS: dict[str, Count] = {
    **pointwise.COUNTS,
    **reduction.COUNTS,
    **normalization.COUNTS,
    **indexing.COUNTS,
    **gemm.COUNTS,
    **convolution.COUNTS,
    **attention.COUNTS,
}
_BY_KERNEL = (*libraries.BY_KERNEL, *normalization.BY_KERNEL, *indexing.BY_KERNEL)


def demand_of_call(call: Call) -> Demand | None:
    """What an op asks for as a whole, of the one kernel that computes it."""
    count = _COUNTS.get(call.name)
    return count(call) if count and not call.strange else None


def demand_of(kernel: Kernel) -> Demand | None:
    """What one kernel, launched by an op, was asked for."""
    op = kernel.op
    if op is None:
        return None
    call = call_of(op)
    decoded = kernel.decoded
    if decoded.family == "inductor":
        return inductor.demand(call, decoded)
    if call.strange:
        return None
    if (count := _by_kernel(op.name, kernel.name)) is not None:
        return count(call)
    siblings = launched_by(op)
    if decoded.fields.get("multi_tensor"):
        return lists.demand(kernel, call, siblings)
    if call.name == "aten::convolution_backward" and kernel.category == "kernel":
        return convolution.gradient(call, _direction(kernel)) if _is_alone(kernel, siblings) else None
    if call.name == "aten::cat":
        return indexing.cat(call, kernel.name) if len(siblings) == 1 else None
    return demand_of_call(call) if _is_main(kernel, siblings) else None


def launched_by(op: Op) -> list[Kernel]:
    """The kernels, not copies or memsets, that an op launched itself."""
    trace = op.trace
    found = trace.kernels.select(trace.op_work.of(op.row))
    return [kernel for kernel in found if kernel.category in ("kernel", "op")]


@cache
def _by_kernel(op: str, kernel: str) -> Count | None:
    return next(
        (count for ops, part, count in _BY_KERNEL if re.fullmatch(ops, op) and re.search(part, kernel)), None
    )


_HEAVY = ("gemm", "convolution", "attention")
_ASIDE = re.compile(r"dot_do_o|convert_dq|bwd_preprocess|combine")
"""What attention's main kernels have before and behind them."""


def _is_main(kernel: Kernel, siblings: Sequence[Kernel]) -> bool:
    """Whether it does what its op is for: it is the op's only kernel, or the only one of the op's kind."""
    if len(siblings) <= 1:
        return True
    kind = kind_of_op(kernel.op.name.rpartition("::")[2]) if kernel.op else None
    kinds = _HEAVY if kind in _HEAVY else (kind,)
    return _only([k for k in siblings if k.kind in kinds and not _ASIDE.search(k.name)], kernel)


def _is_alone(kernel: Kernel, siblings: Sequence[Kernel]) -> bool:
    """Whether it computes a gradient of a convolution, and no other kernel the same one."""
    heavy = [other for other in siblings if other.kind in _HEAVY and not _ASIDE.search(other.name)]
    return _only([other for other in heavy if _direction(other) == _direction(kernel)], kernel)


def _direction(kernel: Kernel) -> str | None:
    found = kernel.decoded.fields.get("direction")
    return found if isinstance(found, str) else None


def _only(kernels: Sequence[Kernel], kernel: Kernel) -> bool:
    return len(kernels) == 1 and kernels[0] == kernel
