"""CPU ops: what a stand-in for a kernel computes, and which ops compute nothing."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from rung.names.decoded import Decoded
from rung.names.families import inductor
from rung.names.operator_table import METADATA_OPS, kind_of_op, out_of_place

_WRAPPERS = re.compile(
    r"TorchDynamo Cache Lookup|Pregraph bytecode|AOTDispatcher Runtime Wrapper Prologue"
    r"|Torch-Compiled Region: .*|## Call CompiledFxGraph .*|CompiledFunction(Backward)?"
    r"|.* \(dynamo_timed\)|ProfilerStep#\d+|detach|record_param_comms"
    # The autograd engine's own spans: the op that computes a gradient is a child of its node.
    r"|autograd::engine::evaluate_function: .*|torch::autograd::\w+|\w+Backward\d*"
)
_OP = re.compile(r"(?P<namespace>\w+)::(?P<op>\w+)(?:\.\w+)?")
_FUNCTORS = {
    "zero": "fill",
    "zeros": "fill",
    "ones": "fill",
    "full": "fill",
    "_to_copy": "copy",
    "clone": "copy",
}


def is_metadata_op(name: str) -> bool:
    """Whether a CPU op computes nothing itself: it rewrites shape and stride, allocates, or is a wrapper.

    The wrappers are the compiler's (`TorchDynamo Cache Lookup`, `Torch-Compiled Region: 0/1`, ...) and the
    autograd engine's (`AddmmBackward0`, ...). An op that is not known computes.
    """
    match = _OP.fullmatch(name)
    if match and match["namespace"] == "aten":
        return match["op"] in METADATA_OPS
    return _WRAPPERS.fullmatch(name) is not None


@lru_cache(maxsize=8192)
def decode_op(name: str) -> Decoded:
    """A CPU op that stands in for a kernel: `aten::mm` -> family `aten-op`, kind `gemm`.

    Fused kernels the compiler wrote (`cpp_fused_*`, `triton_*`) are family `inductor`. An operator of another
    library is family `torch-op`, of kind `other` unless it bears the name of an operator known here.
    """
    fused = inductor.decode(name)
    if fused is not None:
        return fused
    match = _OP.fullmatch(name)
    if match is None:
        return Decoded(name, "unknown", "other", {}, (name,) if name else ())
    op = match["op"]
    kind = kind_of_op(op)
    if match["namespace"] in ("c10d", "_c10d_functional"):
        kind = "collective"
    fields: dict[str, Any] = {"namespace": match["namespace"], "op": op}
    if kind in ("pointwise", "reduction"):
        base = out_of_place(op).removeprefix("_foreach_")
        fields["functor"] = _FUNCTORS.get(base, base)
    family = "aten-op" if match["namespace"] == "aten" else "torch-op"
    return Decoded(name, family, kind or "other", fields, () if kind else (op,))
