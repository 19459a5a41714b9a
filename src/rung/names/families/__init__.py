"""The families Rung knows, one small file each; `FAMILIES` is the order in which they are tried."""

from __future__ import annotations

from collections.abc import Callable

from rung.names.decoded import Decoded
from rung.names.families import (
    aten,
    attention,
    cublas,
    cudnn,
    cutlass,
    fbgemm,
    inductor,
    liger,
    nccl,
    nvjet,
    plain,
    primitives,
    rocm,
    rung_glu,
    serving,
    xmma,
)

FAMILIES: tuple[Callable[[str], Decoded | None], ...] = (
    nvjet.decode,
    inductor.decode,
    xmma.decode,
    # FlashAttention 3 is a `cutlass::device_kernel` too: attention first.
    attention.decode,
    cutlass.decode,
    cublas.decode,
    cudnn.decode,
    nccl.decode,
    liger.decode,
    rung_glu.decode,
    rocm.decode,
    serving.decode,
    fbgemm.decode,
    primitives.decode,
    aten.decode,
    plain.decode,
)
