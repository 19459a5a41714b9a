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
"""The eleven kinds of work. `copy` and `memset` are the device's own engines, never a kernel."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A kernel name taken apart. Only what is known is said; the rest stays in `unknown`, as it is.

    `fields` holds the parts by the field's own words. Those that several families share:

    | key | value |
    |---|---|
    | `arch` | `"sm_90"`, `"gfx942"`: what the kernel was built for; `"ampere"` where a name has that |
    | `unit` | `"tensorop"`, `"wgmma"` (tensor cores) or `"simt"` (ordinary cores) |
    | `dtype_a`, `dtype_b`, `dtype_out` | `"bf16"`, `"fp16"`, `"fp32"`, `"fp8_e4m3"`, ...: in memory |
    | `dtype` | the one dtype of a kernel whose operands share it |
    | `math` | what the tensor cores multiply in, where the name says it apart from the operands |
    | `accumulate` | dtype of the accumulator |
    | `tile` | `[m, n]` or `[m, n, k]`: a block's elements of the output, depth of a stage |
    | `instruction` | `[m, n, k]` of the matrix instruction |
    | `stages` | buffers in flight along K |
    | `layout` | `"tn"`, `"TNT"`, ...: as the name has it |
    | `tensor_layout` | `"nhwc"` or `"nchw"` |
    | `align` | elements |
    | `cluster` | `[x, y]` or `[x, y, z]` blocks of a thread-block cluster |
    | `split_k` | True: blocks share K and their parts are summed; a number where it is known |
    | `gemv` | True: the product of a matrix and a vector |
    | `epilogue` | list of what rides in the write-back: `["bias"]` |
    | `ops` | list of the ops a compiler merged: `["_unsafe_view", "gelu", "mul"]` |
    | `id` | the compiler's number for the kernel within its graph |
    | `form` | the compiler's form of kernel: `"pointwise"`, `"persistent reduction"`, `"template"`, ... |
    | `functor` | the function applied: `"gelu"`, `"mul"`, `"sum"`, `"rms_norm"`, `"sort"`, ... |
    | `vector_width` | elements a thread loads at once |
    | `tensors` | tensors an element-wise kernel reads and writes |
    | `direction` | `"forward"`, `"backward"`, `"backward_data"`, `"backward_weight"`, `"HtoD"` |
    | `from`, `to` | memory kinds of a copy (`"Pageable"`, `"Device"`), layouts of a layout change |
    | `collective`, `algorithm`, `protocol`, `op` | NCCL's words: `"AllReduce"`, `"RING"`, `"LL"`, `"Sum"` |
    | `namespace`, `op` | of a CPU op: `"aten"`, `"mm"` |
    """

    name: str
    family: str
    kind: Kind
    fields: dict[str, Any] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
