"""ATen kernels that say what they are by their function's name: softmax, norms, cat, index, dropout, ..."""

from __future__ import annotations

import re
from typing import Any

from rung.names import cpp
from rung.names.decoded import Decoded, Kind
from rung.names.dtypes import dtype_of

_NAMED: tuple[tuple[str, Kind, dict[str, Any]], ...] = (
    # softmax: PersistentSoftmax.cuh, SoftMax.cu
    (r"(dropout_)?softmax_warp_forward", "softmax", {"direction": "forward"}),
    (r"(masked_)?softmax_warp_backward\w*", "softmax", {"direction": "backward"}),
    (r"cunn_(Spatial)?SoftMaxForward\w*", "softmax", {"direction": "forward"}),
    (r"cunn_(Spatial)?SoftMaxBackward\w*", "softmax", {"direction": "backward"}),
    (r"softMax(Forward|Backward)\w*", "softmax", {}),
    # norms: layer_norm_kernel.cu, group_norm_kernel.cu, Normalization.cuh
    (r"vectorized_layer_norm_kernel", "normalization", {"functor": "layer_norm", "direction": "forward"}),
    (r"LayerNormForwardCUDAKernel", "normalization", {"functor": "layer_norm", "direction": "forward"}),
    (r"RowwiseMomentsCUDAKernel", "normalization", {"direction": "forward"}),
    (r"layer_norm_grad_input_kernel\w*", "normalization", {"functor": "layer_norm", "direction": "backward"}),
    (r"GammaBetaBackward\w*", "normalization", {"direction": "backward"}),
    (
        r"cuComputeGradInput|cuComputePartGradGammaBeta|cuComputeGradGammaBeta",
        "normalization",
        {"direction": "backward"},
    ),
    (r"batch_norm_backward\w*", "normalization", {"functor": "batch_norm", "direction": "backward"}),
    (r"batch_norm_\w*", "normalization", {"functor": "batch_norm", "direction": "forward"}),
    (r"GroupNorm\w*|ComputeFusedParamsCUDAKernel", "normalization", {"functor": "group_norm"}),
    # copies and gathers
    (r"CatArrayBatchedCopy\w*", "pointwise", {"functor": "cat"}),
    (r"index_elementwise_kernel", "other", {"functor": "index"}),
    (r"indexSelect(Large|Small)Index", "other", {"functor": "index_select"}),
    (r"indexFunc(Large|Small)Index", "other", {"functor": "index_reduce"}),
    (r"indexing_backward_kernel\w*", "other", {"functor": "index", "direction": "backward"}),
    (r"_scatter_gather_elementwise_kernel", "other", {}),
    (r"vectorized_gather_kernel", "other", {"functor": "gather"}),
    (
        r"embedding_backward\w*|compute_grad_weight\w*",
        "other",
        {"functor": "embedding", "direction": "backward"},
    ),
    (r"EmbeddingBag_updateOutputKernel\w*", "other", {"functor": "embedding_bag", "direction": "forward"}),
    # random numbers
    (r"(fused_)?dropout_kernel\w*|fused_dropout_kernel_vec", "pointwise", {"functor": "dropout"}),
    (r"distribution_elementwise_grid_stride_kernel", "pointwise", {"functor": "random"}),
    # losses
    (r"nll_loss_forward\w*", "reduction", {"functor": "nll_loss", "direction": "forward"}),
    (r"nll_loss_backward\w*", "other", {"functor": "nll_loss", "direction": "backward"}),
    (r"cunn_ClassNLLCriterion_updateOutput\w*", "reduction", {"functor": "nll_loss", "direction": "forward"}),
    (r"cunn_ClassNLLCriterion_updateGradInput\w*", "other", {"functor": "nll_loss", "direction": "backward"}),
    # pooling, searching and the rest
    (r"max_pool_forward_n\w+", "other", {"functor": "max_pool", "direction": "forward"}),
    (r"max_pool_backward_n\w+", "other", {"functor": "max_pool", "direction": "backward"}),
    (
        r"(adaptive_average_pool|avg_pool2d_out_cuda_frame)\w*",
        "other",
        {"functor": "avg_pool", "direction": "forward"},
    ),
    (r"searchsorted_cuda_kernel", "other", {"functor": "searchsorted"}),
    (r"tensor_kernel_scan_\w+", "other", {"functor": "scan"}),
    (
        r"(gatherTopK|radixFindKthValues|bitonicSortKVInPlace|radixSortKVInPlace)\w*",
        "other",
        {"functor": "sort"},
    ),
    (r"compute_cuda_kernel", "other", {"functor": "repeat_interleave"}),
    (r"triu_tril_kernel", "pointwise", {"functor": "triu_tril"}),
)
_UNSCOPED = re.compile(
    r"cunn_\w+|softmax_warp_\w+|cuCompute\w+|compute_cuda_kernel|multi_tensor_apply_kernel|indexing_backward_kernel\w*"
)


def decode(name: str, parsed: cpp.CppName) -> Decoded | None:
    """An ATen kernel by its function's name, or None."""
    scope = "::".join(parsed.scope)
    if not (scope.startswith("at") or "at::native" in scope or _UNSCOPED.fullmatch(parsed.base)):
        return None
    for pattern, kind, fields in _NAMED:
        if re.fullmatch(pattern, parsed.base):
            details, unknown = _details(parsed, kind)
            return Decoded(name, "aten", kind, fields | details, unknown)
    if scope == "at" or scope.startswith("at::"):
        return Decoded(name, "aten", "other", {}, (parsed.base, *parsed.args, *filter(None, [parsed.tail])))
    return None


def _details(parsed: cpp.CppName, kind: Kind) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What the template arguments of the named kernels say, and those that were not read."""
    args = list(parsed.args)
    fields: dict[str, Any] = {}
    if kind == "softmax" and parsed.base.startswith("softmax_warp") and len(args) >= 5:
        # <input, output, accumulator, log2 of the row length, log_softmax, ...>
        fields = _dtypes(("dtype_a", "dtype_out", "accumulate"), args[:3])
        fields["functor"] = "log_softmax" if args[4] == "true" else "softmax"
        return fields, (args[3], *args[5:])
    if parsed.base == "vectorized_layer_norm_kernel" and len(args) >= 2:
        fields = _dtypes(("dtype", "accumulate"), args[:2])
        if args[2:3] == ["true"]:
            fields["functor"] = "rms_norm"
        return fields, tuple(args[3:])
    if parsed.base == "_scatter_gather_elementwise_kernel" and len(args) >= 3:
        # _cuda_scatter_gather_internal_kernel<is_scatter_like, ...>
        inner = cpp.parse(args[2])
        if inner.args[:1] in (("true",), ("false",)):
            fields["functor"] = "scatter" if inner.args[0] == "true" else "gather"
        return fields, tuple(args[:2])
    if parsed.base == "index_elementwise_kernel" and len(args) >= 3:
        what = re.search(r"index_(put|copy|fill)_kernel_impl", args[2])
        return ({"functor": f"index_{what[1]}"} if what else {}), tuple(args[:2])
    first = dtype_of(args[0]) if args else None
    if first and all(
        dtype_of(arg) in (first, None) for arg in args if arg not in ("int", "unsigned int", "long", "bool")
    ):
        return {"dtype": first}, tuple(arg for arg in args if dtype_of(arg) != first)
    return {}, (*args, *filter(None, [parsed.tail]))


def _dtypes(keys: tuple[str, ...], types: list[str]) -> dict[str, Any]:
    found = {key: dtype_of(type_) for key, type_ in zip(keys, types, strict=True)}
    fields: dict[str, Any] = {key: dtype for key, dtype in found.items() if dtype}
    if "dtype_a" in fields and fields["dtype_a"] == fields.get("dtype_out"):
        fields["dtype"] = fields["dtype_a"]
    return fields
