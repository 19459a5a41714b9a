"""Chains: neighbouring kernels that move bytes and hand a tensor on through memory."""

from __future__ import annotations

from collections.abc import Iterator

from rung.insight.opportunities.opportunity import Opportunity
from rung.insight.opportunities.predict import opportunity
from rung.insight.opportunities.runs import base, mergeable, runs
from rung.insight.opportunities.setting import Setting

WORTH_SAVING = 4096
"""Bytes. Below this a round trip costs a launch, not bandwidth."""

COMPILER = "torch.compile"

GLU = "rung.glu.glu, Liger, or torch.compile"

_PATTERNS: tuple[tuple[str, tuple[tuple[str, ...], ...], str], ...] = (
    ("RMSNorm", (("pow", "square"), ("mean",), ("rsqrt",), ("mul",)), f"Liger's RMSNorm, or {COMPILER}"),
    ("rotary embedding", (("neg",), ("cat",), ("mul",), ("add",)), f"Liger's rotary kernel, or {COMPILER}"),
    ("GLU backward", (("gelu_backward", "silu_backward"), ("mul",)), GLU),
    ("GLU activation", (("gelu", "silu", "relu", "sigmoid"), ("mul",)), GLU),
)
"""Names that people know, and who makes one kernel of them: each group must have one of its ops in the chain.
The first that fits is the name."""


def chains(at: Setting) -> Iterator[Opportunity]:
    """Each chain of two kernels or more that would save a round trip worth its bytes, and time as well."""
    for run in runs(at.forward, mergeable):
        for rows in at.tensors.linked(run) if len(run) > 1 else ():
            what, who = _named({base(at.rows[row].op) for row in rows})
            one = opportunity(at, "chain", what, rows, COMPILER if at.stand_in else who)
            if one.prediction.saved_bytes >= WORTH_SAVING and one.prediction.saved_ns != 0:
                yield one


def _named(ops: set[str]) -> tuple[str, str]:
    for name, sets, who in _PATTERNS:
        if all(ops.intersection(wanted) for wanted in sets):
            return name, who
    return "", COMPILER
