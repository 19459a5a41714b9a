"""Element-wise ops: each operand read once, the result written once.

An operand is broadcast in the cache, not in memory. An op in place writes what it has read; one with `out=`
has its result among its recorded inputs, behind its operands.
"""

from __future__ import annotations

from rung.insight.counting.demand import Count, Demand, moved, passes
from rung.insight.counting.promotion import is_integer, promoted
from rung.insight.tensors import Call, Tensor, broadcast
from rung.names.operator_table import out_of_place

_OPERANDS = {
    1: """abs acos acosh angle asin asinh atan atanh bitwise_not ceil celu clone conj_physical cos cosh
        deg2rad digamma elu erf erfc erfinv exp exp2 expm1 flip floor frac gelu hardshrink hardsigmoid
        hardswish hardtanh isfinite isinf isnan isneginf isposinf leaky_relu lgamma log log10 log1p log2
        log_sigmoid logical_not logit mish nan_to_num neg rad2deg reciprocal relu relu6 roll round
        rsqrt selu sgn sigmoid sign signbit silu sin sinc sinh softplus softshrink sqrt square tan tanh
        threshold trunc""",
    2: """add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor clamp_max
        clamp_min copysign div eq floor_divide fmax fmin fmod ge gelu_backward gt
        hardshrink_backward hardsigmoid_backward hardswish_backward hardtanh_backward heaviside hypot ldexp le
        leaky_relu_backward logaddexp logaddexp2 logical_and logical_or logical_xor logit_backward lt
        maximum minimum mish_backward mul native_dropout_backward ne nextafter pow prelu
        _prelu_kernel remainder rsub sigmoid_backward silu_backward softplus_backward softshrink_backward sub
        tanh_backward threshold_backward true_divide xlogy mse_loss smooth_l1_loss huber_loss l1_loss kl_div
        __and__ __or__ __xor__ __lshift__ __rshift__""",
    3: """addcdiv addcmul clamp clip lerp masked_fill where mse_loss_backward smooth_l1_loss_backward
        huber_loss_backward""",
}
OPERANDS = {op: n for n, ops in _OPERANDS.items() for op in ops.split()}
"""How many tensors an op takes at most, in the first positions of its schema."""

_BOOLEAN = """eq ne lt le gt ge isfinite isinf isnan isneginf isposinf logical_and logical_not logical_or
logical_xor signbit"""
_KEEPS_INTEGERS = """abs add bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift
bitwise_xor ceil clamp clamp_max clamp_min clip clone conj_physical flip floor floor_divide fmod maximum
minimum mul neg relu remainder roll rsub sgn sign sub trunc where masked_fill __and__ __or__ __xor__
__lshift__ __rshift__"""
_BY_THEMSELVES = """bernoulli_ cauchy_ exponential_ fill_ geometric_ log_normal_ normal_ random_ uniform_
    zero_"""


def _count(call: Call) -> Demand | None:
    op = call.name.removeprefix("aten::")
    base = out_of_place(op)
    operands = call.some(*range(OPERANDS[base]))
    if not operands:
        return None
    result = next(iter(call.some(*range(OPERANDS[base], len(call.tensors)))), None)
    if op != base:
        result = call.tensor(0)
    elif result is None and (shape := broadcast(operands)) is not None:
        result = Tensor(shape, _dtype(call, base, operands))
    return moved(operands, Tensor(result.shape, result.dtype)) if result else None


def _dtype(call: Call, op: str, operands: list[Tensor]) -> str:
    """The result's dtype; empty where the recording does not tell."""
    if not all(t.dtype for t in operands):
        return ""
    if op in _BOOLEAN.split():
        return "bool"
    if op == "masked_fill":
        return operands[0].dtype
    dtype = promoted(operands[1:] if op == "where" and len(operands) > 1 else operands)
    if not is_integer(dtype):
        return "" if op in ("abs", "angle") and "complex" in dtype else dtype
    beside_a_number = len(operands) < OPERANDS[op] and "." in "".join(call.texts)
    return dtype if op in _KEEPS_INTEGERS.split() and not beside_a_number else ""


def _copy(call: Call) -> Demand | None:
    """`copy_(target, source)`: the source may be broadcast, and of another dtype."""
    return passes(call, (1,), (0,))


def _filled(call: Call) -> Demand | None:
    """Written over, without a look at what was there."""
    return passes(call, (), (0,))


def _dropout(call: Call) -> Demand | None:
    """`native_dropout`: the result, and a mask of one byte an element for the backward pass."""
    x = call.tensor(0)
    return moved([x], Tensor(x.shape, x.dtype), Tensor(x.shape, "bool")) if x else None


COUNTS: dict[str, Count] = {
    **{f"aten::{op}{end}": _count for op in OPERANDS for end in ("", "_") if not op.endswith("__")},
    **{f"aten::{op}": _count for op in OPERANDS if op.endswith("__")},
    **{f"aten::{op}": _filled for op in _BY_THEMSELVES.split()},
    "aten::copy_": _copy,
    "aten::native_dropout": _dropout,
}
