"""What a kernel's name says, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal[
    "gemm",
    "pointwise",
    "reduction",
    "normalization",
    "softmax",
    "attention",
    "convolution",
    "copy",
    "memset",
    "collective",
    "other",
]
"""The eleven kinds of work Rung tells apart. `copy` and `memset` are the device's own engines, never a kernel."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A kernel name taken apart. Only what is known is said; the rest stays in `unknown`, as it is.

    `fields` holds the parts by the field's own words. Those that several families share:

    | key | value |
    |---|---|
    | `arch` | `"sm_90"`: the architecture the kernel was built for |
    | `dtype_a`, `dtype_b`, `dtype_out` | `"bf16"`, `"fp16"`, `"fp32"`, `"tf32"`, `"fp8_e4m3"`, ... |
    | `dtype` | the one dtype of a kernel whose operands share it |
    | `accumulate` | dtype of the accumulator |
    | `tile` | `[m, n]` or `[m, n, k]`: elements of the output a block works on, and the depth of one stage |
    | `instruction` | `[m, n, k]` of the matrix instruction |
    | `stages` | buffers in flight along K |
    | `layout` | `"tn"`, `"TNT"`, ...: as the name has it |
    | `align` | elements |
    | `cluster` | `[x, y]` blocks of a thread-block cluster |
    | `epilogue` | list of what rides in the write-back: `["bias"]` |
    | `ops` | list of the ops a compiler merged: `["_unsafe_view", "gelu", "mul"]` |
    | `id` | the compiler's number for the kernel within its graph |
    | `functor` | the element-wise function: `"gelu"`, `"mul"`, ... |
    | `vector_width` | elements a thread loads at once |
    """

    name: str
    family: str
    kind: Kind
    fields: dict[str, Any] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
