"""The tensors that an op's kernel reads and the one it writes, from recorded shapes and dtypes.

Bytes are counted from the same (`counting`). What the recording does not tell is None.
"""

from __future__ import annotations

from rung.insight.counting import demand_of_call
from rung.insight.tensors import Tensor, call_of, inputs
from rung.trace import Op


def reads_of(op: Op) -> tuple[Tensor, ...]:
    """What an op reads, each tensor once; of an op that is not counted all its inputs."""
    demand = demand_of_call(call_of(op))
    return demand.reads if demand else tuple(inputs(op))


def writes_of(op: Op) -> Tensor | None:
    """What an op leaves; the first of several."""
    demand = demand_of_call(call_of(op))
    written = demand.writes[0] if demand and demand.writes else None
    return written if written and written.dtype else None
