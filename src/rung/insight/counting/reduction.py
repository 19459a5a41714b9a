"""Reductions and softmax: the input read once, the result written once.

Their kernels hold what they read: PyTorch's softmax reads a row twice where it does not fit into registers or
shared memory, which is more than it has to.
"""

from __future__ import annotations

from rung.insight.counting.demand import SCALAR_TYPES, Count, Demand, moved, passes
from rung.insight.counting.promotion import is_integer
from rung.insight.tensors import Call, Tensor

_OUT_DTYPE = {"sum": 3, "mean": 3, "nansum": 3, "prod": 3, "linalg_vector_norm": 4}
"""Where an op that reduces over dimensions has the dtype it was asked for."""

_DIMS = {
    "linalg_vector_norm": 2,
    **dict.fromkeys(("sum", "mean", "nansum", "prod", "amax", "amin", "all", "any"), 1),
    **dict.fromkeys(("argmax", "argmin", "max", "min", "var", "std", "var_mean", "std_mean"), 1),
}
"""Where an op has the dimensions that it reduces."""

_INDICES = ("max", "min")
_PAIRS = ("var_mean", "std_mean")


def _count(call: Call) -> Demand | None:
    op = call.name.removeprefix("aten::")
    x = call.tensor(0)
    shape = _left(call, _DIMS[op], x.shape) if x else None
    if x is None or shape is None:
        return None
    result = Tensor(shape, _dtype(call, op, x.dtype))
    if op in _INDICES and call.text(1):
        return moved([x], result, Tensor(shape, "long int"))
    return moved([x], result, *([result] if op in _PAIRS else []))


def _left(call: Call, at: int, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The dimensions that stay; None where the call names none that were recorded.

    `sum(x)` and `sum(x, dtype=...)` have no list of dimensions there; `max(a, b)` would have a tensor.
    """
    if call.tensor(at) is not None:
        return None
    if not call.text(at):
        return () if len(call.tensors) <= 2 and call.texts else None
    dims = call.numbers(at)
    if dims is None or any(not -len(shape) <= dim < len(shape) for dim in dims):
        return None
    gone = {dim % len(shape) for dim in dims} if dims else set(range(len(shape)))
    return tuple(n for i, n in enumerate(shape) if i not in gone)


def _dtype(call: Call, op: str, dtype: str) -> str:
    if op in ("all", "any"):
        return "bool"
    if op in ("argmax", "argmin"):
        return "long int"
    asked = SCALAR_TYPES.get(call.text(_OUT_DTYPE[op])) if op in _OUT_DTYPE else None
    if asked:
        return asked
    return "long int" if is_integer(dtype) and op in ("sum", "prod", "nansum") else dtype


def _softmax(call: Call) -> Demand | None:
    """`_softmax(x, dim, half_to_float)`"""
    x = call.tensor(0)
    if x is None:
        return None
    return moved([x], Tensor(x.shape, "float" if call.flag(2) else x.dtype))


def _softmax_backward(call: Call) -> Demand | None:
    """`_softmax_backward_data(gradient, result, dim, dtype)`"""
    demand = passes(call, (0, 1), (0,))
    asked = SCALAR_TYPES.get(call.text(3))
    if demand is None or asked is None:
        return demand
    return moved(list(demand.reads), Tensor(demand.writes[0].shape, asked))


COUNTS: dict[str, Count] = {
    **{f"aten::{op}": _count for op in _DIMS},
    "aten::_softmax": _softmax,
    "aten::_log_softmax": _softmax,
    "aten::_softmax_backward_data": _softmax_backward,
    "aten::_log_softmax_backward_data": _softmax_backward,
}
