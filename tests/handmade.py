"""Forwards made of kernels in a row: each one an op that launches it, 10 us apart."""

from __future__ import annotations

from typing import Any

from rung.insight.forward import Forward, forward
from tracelib import Event, annotation, copy, kernel, launch, memset, op, read

GELU = "void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl(int)>"
MUL = "void at::native::vectorized_elementwise_kernel<8, at::native::MulFunctor<float>>"
ADD = "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<float>>"
TILE_A = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT"
TILE_B = "nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_TNT"

Shape = list[int]


def tensors(*shapes: Shape, dtype: str = "float") -> dict[str, Any]:
    """What Kineto records of an op's inputs."""
    return {"Input Dims": list(shapes), "Input type": [dtype] * len(shapes)}


def ran(name: str, by: str, *shapes: Shape, dur: float = 5) -> tuple[str, str, dict[str, Any], float]:
    """A kernel launched by an op with inputs of these shapes."""
    return name, by, tensors(*shapes) if shapes else {}, dur


def events(*kernels: tuple[str, str, dict[str, Any], float], at: float = 0, first: int = 1) -> list[Event]:
    """One `fwd` of 10 us a kernel, whose launches are numbered from `first`."""
    made = [annotation("fwd", at, 10 * len(kernels) + 10)]
    for i, (name, by, args, dur) in enumerate(kernels):
        start, number = at + 10 * i, first + i
        put = {"Memcpy": copy, "Memset": memset}.get(name)
        work = put(start + 4, dur, number, bytes=4) if put else kernel(name, start + 4, dur, number)
        made += [op(by, start + 1, 8, **args), launch(start + 2, 1, number), work]
    return made


def one(*kernels: tuple[str, str, dict[str, Any], float]) -> Forward:
    return forward(read(*events(*kernels)))
