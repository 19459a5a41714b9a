"""The tensors that an op's kernel reads and the one it writes, from recorded shapes and dtypes.

The one place that knows: bytes are counted from it, and tensors are followed from kernel to kernel by it.
What the recording does not tell is None.
"""

from __future__ import annotations

from rung import names
from rung.insight.tensors import Tensor, broadcast, inputs
from rung.insight.work import gemm_of
from rung.trace import Op

_FLOATS = ("double", "float", "c10::Half", "c10::BFloat16")
_REDUCTIONS = ("aten::mean", "aten::sum", "aten::amax", "aten::amin")


def reads_of(op: Op) -> tuple[Tensor, ...]:
    """Each input once; what `copy_` writes over is not read."""
    tensors = tuple(inputs(op))
    return tensors[1:] if op.name == "aten::copy_" and len(tensors) == 2 else tensors


def writes_of(op: Op) -> Tensor | None:
    """What an op leaves: exact for matrix products, pointwise ops, copies, normalisations, and reductions
    whose dimensions were recorded; else None."""
    tensors = inputs(op)
    if not tensors:
        return None
    if op.name == "aten::copy_":
        return tensors[0] if len(tensors) == 2 else None
    gemm = gemm_of(op)
    if gemm is not None:
        shape = (gemm.batch, gemm.m, gemm.n) if gemm.batch > 1 else (gemm.m, gemm.n)
        return Tensor(shape, tensors[0].dtype)
    if op.name in _REDUCTIONS:
        return _reduced(op, tensors[0])
    kind = names.decode_op(op.name).kind
    if kind in ("softmax", "normalization") and "backward" not in op.name:
        return tensors[0]
    return _elementwise(tensors) if kind == "pointwise" else None


def _elementwise(tensors: list[Tensor]) -> Tensor | None:
    """The inputs' broadcast shape, in the dtype that torch promotes them to: the widest float among those with
    dimensions. Other mixtures the recording does not tell apart."""
    shape = broadcast(tensors)
    dtypes = {t.dtype for t in tensors if t.shape} or {t.dtype for t in tensors}
    if shape is None:
        return None
    if len(dtypes) == 1:
        return Tensor(shape, dtypes.pop())
    if dtypes == {"c10::Half", "c10::BFloat16"}:
        return Tensor(shape, "float")
    if dtypes <= set(_FLOATS):
        return Tensor(shape, min(dtypes, key=_FLOATS.index))
    return None


def _reduced(op: Op, whole: Tensor) -> Tensor | None:
    """`mean(x, [-1], keepdim, dtype=None)`: x without the dimensions that the call names."""
    told = op.concrete_inputs
    if len(told) < 2 or not told[1].startswith("[") or (len(told) > 3 and told[3]):
        return None
    rank = len(whole.shape)
    try:
        gone = {int(dim) % rank for dim in told[1].strip("[]").split(",") if dim.strip()}
    except (ValueError, ZeroDivisionError):
        return None
    return Tensor(tuple(n for i, n in enumerate(whole.shape) if gone and i not in gone), whole.dtype)
