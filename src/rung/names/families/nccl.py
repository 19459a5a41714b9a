"""Collectives: NCCL and RCCL, old names and new, and the all-reduces PyTorch and vLLM write themselves.

`Sum` and a dtype stand in the name of every NCCL kernel of the old form; where nothing is reduced
(`Broadcast`, `SendRecv`, `AllGather`) they mean nothing and are shown as they are.
"""

from __future__ import annotations

import re
from typing import Any

from rung.names import cpp
from rung.names.decoded import Decoded
from rung.names.dtypes import dtype_of
from rung.names.tokens import Rule, sort_out

_COLLECTIVES = (
    "AllReduce",
    "AllGather",
    "ReduceScatter",
    "Broadcast",
    "Reduce",
    "SendRecv",
    "AllToAll",
    "Gather",
    "Scatter",
)
_COLLECTIVE = "|".join(_COLLECTIVES)
_SPELLED = {word.lower(): word for word in _COLLECTIVES} | {"alltoallpivot": "AllToAllPivot"}
_REDUCING = ("AllReduce", "ReduceScatter", "Reduce")
_OPS = {"sum": "Sum", "prod": "Prod", "max": "Max", "min": "Min", "minmax": "MinMax", "avg": "Avg",
        "premulsum": "PreMulSum", "sumpostdiv": "SumPostDiv"}  # fmt: skip
_NEW = re.compile(
    rf"(?:nccl|rccl)(?:Dev|SymDev|SymkDev)?Kernel_(?:(?P<what>{_COLLECTIVE})(?:_(?P<rest>\w+))?|(?P<other>\w+))",
    re.IGNORECASE,
)
_OLD = re.compile(
    rf"nccl(?P<what>{_COLLECTIVE})(?P<algorithm>Ring|Tree|CollNet)?(?P<protocol>LL128|LL|Simple)?Kernel_(?P<rest>\w+)",
    re.IGNORECASE,
)
_WORD = re.compile(r"NVLS_TREE|COLLNET_(?:DIRECT|CHAIN)|u?int\d+_t(?![^_])|[^_]+", re.IGNORECASE)
_WORDS: tuple[Rule, ...] = (
    (
        r"(?i:(RING|TREE|NVLS_TREE|NVLS|COLLNET_DIRECT|COLLNET_CHAIN|PAT))",
        lambda m: {"algorithm": m[1].upper()},
    ),
    (r"(?i:(LL128|LL|SIMPLE))", lambda m: {"protocol": m[1].upper()}),
)
_REDUCING_WORDS: tuple[Rule, ...] = (
    (rf"(?i:({'|'.join(_OPS)}))", lambda m: {"op": _OPS[m[1].lower()]}),
    (
        r"(?i:(f16|f32|f64|bf16|half|float|double|i8|u8|i32|i64|f8e4m3|f8e5m2|u?int\d+_t))",
        lambda m: {"dtype": dtype_of(m[1].lower())},
    ),
)
_CUSTOM: tuple[tuple[str, str, str], ...] = (
    (r"(multimem|one_shot|two_shot|multimem_one_shot)_all_reduce_kernel\w*", "symmetric-memory", "AllReduce"),
    (r"multimem_all_gather_kernel\w*", "symmetric-memory", "AllGather"),
    (r"cross_device_reduce_[12]stage\w*", "vllm", "AllReduce"),
    (r"\w*allreduce_fusion_kernel\w*", "flashinfer", "AllReduce"),
)


def decode(name: str) -> Decoded | None:
    """A collective, or None."""
    parsed = cpp.parse(name)
    match = _NEW.fullmatch(parsed.base) or _OLD.fullmatch(parsed.base)
    if match is None:
        return _custom(name, parsed)
    groups = match.groupdict()
    if groups["what"] is None:
        # ncclDevKernel_Generic: several collectives share it, the name does not say which.
        return Decoded(name, "nccl", "collective", {}, (groups["other"],))
    what = _SPELLED[groups["what"].lower()]
    fields: dict[str, Any] = {"collective": what}
    for key in ("algorithm", "protocol"):
        if groups.get(key):
            fields[key] = groups[key].upper()
    rules = (*_WORDS, *_REDUCING_WORDS) if what in _REDUCING else _WORDS
    known, unknown = sort_out(_WORD.findall(groups["rest"] or ""), rules)
    return Decoded(name, "nccl", "collective", fields | known, unknown)


def _custom(name: str, parsed: cpp.CppName) -> Decoded | None:
    for pattern, family, collective in _CUSTOM:
        if re.fullmatch(pattern, parsed.base):
            fields: dict[str, Any] = {"collective": collective}
            dtype = dtype_of(parsed.args[0]) if parsed.args else None
            if dtype:
                fields["dtype"] = dtype
            return Decoded(name, family, "collective", fields, parsed.args[1:] if dtype else parsed.args)
    return None
