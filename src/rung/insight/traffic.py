"""The tensors that a kernel reads and the one it writes, from recorded shapes and dtypes.

Bytes are counted from the same (`counting`). What the recording does not tell is None.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from rung.insight.counting import demand_of_call
from rung.insight.forward import WorkRow
from rung.insight.tensors import Tensor, call_of, inputs
from rung.trace import Kernel, Op

Role = Literal["product", "copy", "memset", ""]
"""What stands in rows side by side, reading none of one another's results: matrix products, copies. A
memset stands between nothing."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What one kernel, launched by an op of this name, moves.

    `joins`: what it reads is a list of tensors, recorded without a dtype, and it writes all of them as one.
    """

    op: str
    role: Role
    reads: tuple[Tensor, ...] = ()
    writes: Tensor | None = None
    joins: bool = False


def traffic_of(row: WorkRow, kernel: Kernel) -> Traffic:
    """What a kernel moves; a memset inside an op touches none of the op's tensors."""
    op, role = kernel.op, _role(kernel)
    in_graph = kernel.launch is not None and kernel.launch.is_graph
    if op is None or in_graph or kernel.category not in ("kernel", "op"):
        return Traffic(op.name if op else "", role)
    if op.name in ("aten::cat", "aten::stack"):
        parts = tuple(Tensor(shape, "") for shape in call_of(op).list(0) or () if shape)
        return Traffic(op.name, role, parts, joins=True)
    reads = _reads(op)
    known = tuple(tensor for tensor in reads if tensor.dtype)
    written = _writes(op) if len(known) == len(reads) else None
    return Traffic(op.name, role, known, written or _left_over(known, row.work.nbytes))


def joined(parts: tuple[Tensor, ...], dtype: str) -> tuple[tuple[Tensor, ...], Tensor]:
    """A list of tensors in this dtype, and all of them as one."""
    whole = sum(math.prod(part.shape) for part in parts)
    return tuple(Tensor(part.shape, dtype) for part in parts), Tensor((whole,), dtype)


def _role(kernel: Kernel) -> Role:
    if kernel.category == "memset":
        return "memset"
    copies = kernel.op is not None and kernel.op.name in ("aten::copy_", "aten::clone", "aten::contiguous")
    return "product" if kernel.kind == "gemm" else "copy" if copies else ""


def _reads(op: Op) -> tuple[Tensor, ...]:
    """What an op reads, each tensor once; of an op that is not counted all its inputs."""
    demand = demand_of_call(call_of(op))
    return demand.reads if demand else tuple(inputs(op))


def _writes(op: Op) -> Tensor | None:
    """What an op leaves; the first of several."""
    demand = demand_of_call(call_of(op))
    written = demand.writes[0] if demand and demand.writes else None
    return written if written and written.dtype else None


def _left_over(read: tuple[Tensor, ...], nbytes: int | None) -> Tensor | None:
    """What a compiler's kernel moves beyond what it reads is what it writes, over an input as large."""
    left = nbytes - sum(t.nbytes for t in read) if nbytes is not None and read else 0
    return next((tensor for tensor in read if tensor.nbytes == left), None)
