"""Triton kernels that Inductor wrote, from the tensors it recorded for them.

Kineto has each kernel's arguments in order: buffers updated in place, inputs, outputs, then the numbers of
elements (`KernelArgs.python_argdefs` in `torch/_inductor/codegen/common.py`). Which is which is not recorded,
and matters for the first alone: one updated in place passes through memory twice, any other once. So its
bytes are counted where the arguments leave no doubt about that, and nothing is counted where an op may touch
a part of a tensor only.
"""

from __future__ import annotations

import math

from rung.insight.counting.demand import Demand
from rung.insight.counting.gemm import Gemm
from rung.insight.tensors import Call, Tensor
from rung.names import Decoded
from rung.names.operator_table import METADATA_OPS

_PARTIAL = """embedding index index_select gather scatter scatter_add slice select split split_with_sizes
chunk narrow unbind constant_pad_nd slice_scatter select_scatter index_put _unsafe_index take_along_dim
as_strided unfold cat max_pool2d_with_indices avg_pool2d _to_sparse masked_select nonzero roll flip repeat
tile upsample_nearest2d upsample_bilinear2d embedding_dense_backward nll_loss_forward nll_loss_backward
convolution topk sort"""
_ONE_OPERAND = """_fused_rms_norm native_layer_norm _softmax _log_softmax gelu silu relu sigmoid tanh exp neg
abs sqrt rsqrt sum mean amax amin _to_copy clone"""


def demand(call: Call, decoded: Decoded) -> Demand | None:
    """What a generated kernel moves, or, of a template of a matrix product, multiplies too."""
    tensors = [t for t in call.tensors if t is not None]
    if call.strange or not tensors or not isinstance(ops := decoded.fields.get("ops"), list):
        return None
    if decoded.kind == "gemm":
        return _product(ops, tensors)
    sizes = _sizes(call)
    if not sizes or not set(ops).isdisjoint(_PARTIAL.split()):
        return None
    whole = math.prod(sizes)
    written = {whole} if decoded.fields.get("form") == "pointwise" else {whole, whole // sizes[-1]}
    if any(t.numel > whole for t in tensors):
        return None
    in_place = _in_place(
        tensors, written, [op for op in ops if op not in METADATA_OPS], "_unsafe_view" in ops
    )
    if in_place is None:
        return None
    return Demand(None, tuple(tensors), (tensors[0],) if in_place else ())


def _sizes(call: Call) -> list[int]:
    """The numbers of elements behind the tensors: of each dimension, that of the reduction last."""
    found = [
        text
        for text, tensor in zip(call.texts, call.tensors, strict=False)
        if tensor is None and text.isdecimal()
    ]
    return [int(text) for text in found if int(text)]


def _in_place(tensors: list[Tensor], written: set[int], ops: list[str], viewed: bool) -> bool | None:
    """Whether the first buffer is read and written; None where that cannot be told.

    A result has as many elements as the kernel computes. If the first tensor has not, nothing is in place; if
    the last has not, there is no other place for the result. Where both have, an op with one operand tells,
    and so does `_unsafe_view`, which an `nn.Linear` leaves: a matrix among tensors of more dimensions is the
    product it viewed, hence an input.
    """
    first, last = tensors[0], tensors[-1]
    if len(tensors) == 1:
        return True if ops and all(op in _ONE_OPERAND.split() for op in ops) else None
    if first.numel not in written:
        return False if last.numel in written else None
    if last.numel not in written:
        return True
    large = [t for t in tensors if t.numel in written]
    if len(ops) == 1 and ops[0] in _ONE_OPERAND.split() and len(large) == 2:
        return False
    ranks = (len(first.shape), len(last.shape))
    if viewed and "clone" not in ops and min(ranks) == 2 < max(ranks) and first.numel == last.numel:
        return ranks[1] == 2
    return None


def _product(ops: list[str], tensors: list[Tensor]) -> Demand | None:
    """A template's operands come first, after the bias of an `addmm`; what it leaves comes last."""
    at = 1 if ops and ops[0] in ("addmm", "baddbmm") else 0
    if not ops or ops[0] not in ("mm", "addmm", "bmm", "baddbmm") or len(tensors) < at + 3:
        return None
    a, b, out = tensors[at].shape, tensors[at + 1].shape, tensors[-1]
    if not (len(a) == len(b) >= 2 and a[-1] == b[-2] and a[:-2] == b[:-2]):
        return None
    gemm = Gemm(a[-2], b[-1], a[-1], math.prod(a[:-2]))
    if out.numel != gemm.batch * gemm.m * gemm.n:
        return None
    return Demand(gemm.flop, tuple(tensors[:-1]), (out,))
