"""Kernels of Rung, of Liger and of vLLM, by what their own sources read and write."""

from __future__ import annotations

from functools import partial

from rung.insight.counting.demand import Count, Demand, moved, passes
from rung.insight.counting.gemm import linear, twice_as_deep
from rung.insight.tensors import Call, Tensor


def _gate_up(call: Call, saved: bool) -> Demand | None:
    """x against two weights, and of both products the one tensor that the activation leaves of them; for the
    backward pass both are kept as well."""
    tensors = call.given(0, 1, 2)
    gemm = linear(tensors[0].shape, tensors[1].shape) if tensors else None
    if tensors is None or gemm is None:
        return None
    out = Tensor(gemm.out, tensors[0].dtype)
    biases = [t for t in call.some(3, 4, 5) if len(t.shape) == 1]
    return Demand(2 * gemm.flop, (*tensors, *biases), (out,) * (3 if saved else 1))


def _down(call: Call) -> Demand | None:
    """The product of what gate and up left with the third weight of `rung::glu_mlp`."""
    tensors = call.given(0, 1, 3)
    if tensors is None:
        return None
    x, gate, down = tensors
    hidden = Tensor((x.numel // x.shape[-1], gate.shape[0]), x.dtype)
    gemm = linear(hidden.shape, down.shape)
    return Demand(gemm.flop, (hidden, down), (Tensor(gemm.out, x.dtype),)) if gemm else None


def _down_backward(call: Call) -> Demand | None:
    """The gradient [M, D] against down [D, N]; gate and up [M, N] read, their gradients written side by
    side."""
    tensors = call.given(0, 1, 2, 3)
    if tensors is None:
        return None
    grad, down, gate, _ = tensors
    gemm = linear(grad.shape, down.shape[::-1])
    out = Tensor((*gate.shape[:-1], 2 * gate.shape[-1]), gate.dtype) if gate.shape else None
    return Demand(gemm.flop, (*tensors,), (out,)) if gemm and out else None


def _gate_up_backward(call: Call) -> Demand | None:
    """The gradients of gate and up, side by side [M, 2 N], against both weights [N, K]."""
    tensors = call.given(0, 1, 2)
    if tensors is None:
        return None
    both, gate, up = tensors
    gemm = twice_as_deep(both.shape, gate.shape)
    if gemm is None or gate.shape != up.shape:
        return None
    return Demand(gemm.flop, (*tensors,), (Tensor(gemm.out, both.dtype),))


def _glu_backward(call: Call) -> Demand | None:
    """Liger's: the gradient and both inputs read, both gradients written where the inputs were."""
    grad = call.tensor(0)
    return moved([grad] * 3, grad, grad) if grad is not None else None


_GLU = partial(passes, reads=(0, 1), writes=(0,))

BY_KERNEL: tuple[tuple[str, str, Count], ...] = (
    (r"rung::gate_up_backward", r"rung_gate_up_backward_", _gate_up_backward),
    (r"rung::\w+", r"rung_gate_up_\w+_saved", partial(_gate_up, saved=True)),
    (r"rung::\w+", r"rung_gate_up_\w+", partial(_gate_up, saved=False)),
    (r"rung::glu_mlp", r"rung_down_", _down),
    (r"rung::down_backward", r"rung_down_backward_", _down_backward),
    (r"rung::glu", r"rung_glu_(?!backward)", _GLU),
    (r"rung::glu_backward", r"rung_glu_backward", partial(passes, reads=(0, 1, 2), writes=(1, 2))),
    (r"Liger(GELU|SiLU)MulFunction", r"_(geglu_tanh|geglu|swiglu)_forward_kernel", _GLU),
    (r"Liger(GELU|SiLU)MulFunctionBackward", r"_(geglu_tanh|geglu|swiglu)_backward_kernel", _glu_backward),
    (
        r"LigerRMSNormFunction",
        r"_rms_norm_forward_kernel",
        partial(passes, reads=(0,), writes=(0,), weights=(1,)),
    ),
    (
        r"_C::fused_add_rms_norm",
        r"fused_add_rms_norm",
        partial(passes, reads=(0, 1), writes=(0, 1), weights=(2,)),
    ),
    (r"_C::rms_norm", r"rms_norm_kernel", partial(passes, reads=(1,), writes=(0,), weights=(2,))),
    (r"_C::silu_and_mul", r"act_and_mul_kernel", partial(passes, reads=(1,), writes=(0,))),
)
