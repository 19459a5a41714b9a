"""How much work an op asks of a kernel: FLOP, bytes, and the tensor it leaves behind.

Counts come from recorded shapes alone (`counting` has a file for each family of ops). What a shape does not
tell is None, never a guess.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rung.insight.counting import demand_of, demand_of_call
from rung.insight.counting.gemm import Gemm, gemm_of, linear, twice_as_deep
from rung.insight.tensors import Tensor, call_of
from rung.trace import Kernel, Op

__all__ = ["Gemm", "Work", "gemm_of", "output_of", "product_of", "work_of"]


def product_of(kernel: Kernel) -> Gemm | None:
    """The matrix product one kernel computes, from its op's recorded input shapes.

    Rung's gate-up kernel computes two at once; its op covers the down kernel too, so names decide.
    """
    if kernel.op is None or kernel.kind != "gemm":
        return None
    if kernel.family != "rung":
        return gemm_of(kernel.op)
    tensors = call_of(kernel.op).given(0, 1)
    if tensors is None:
        return None
    left, right = tensors[0].shape, tensors[1].shape
    if kernel.name.startswith("rung_down_backward"):
        return linear(left, right[::-1])
    if kernel.name.startswith("rung_gate_up_backward"):
        return twice_as_deep(left, right)
    one = linear(left, right)
    return replace(one, batch=2) if one is not None and kernel.name.startswith("rung_gate_up") else None


def output_of(op: Op) -> Tensor | None:
    """The tensor an op leaves, where its inputs' shapes and dtypes tell its own; else None."""
    demand = demand_of_call(call_of(op))
    return demand.writes[0] if demand and demand.writes and demand.writes[0].dtype else None


@dataclass(frozen=True, slots=True)
class Work:
    """What a kernel had to do, where its op's shapes tell: FLOP of matrix arithmetic; bytes that it must read
    and write at least, each tensor once; for a copy or memset the bytes that it moved as recorded."""

    flop: int | None = None
    nbytes: int | None = None


def work_of(kernel: Kernel) -> Work:
    """FLOP and bytes of one kernel; the fields that are not known are None."""
    if kernel.category in ("copy", "memset"):
        moved = kernel.args.get("bytes")
        return Work(nbytes=moved if isinstance(moved, int) and moved >= 0 else None)
    if kernel.category == "op" and kernel.trace.device:
        return Work()  # the GPU work is lost: an op's width here is what its launch took
    if kernel.launch is not None and kernel.launch.is_graph:
        return Work()
    demand = demand_of(kernel)
    return Work(demand.flop, demand.nbytes) if demand else Work()
