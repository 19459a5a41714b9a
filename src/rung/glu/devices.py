"""What a device can run, and how its matrix products in fp32 are made."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import torch

from rung.glu.rules import Kind

HAS_TRITON = importlib.util.find_spec("triton") is not None
# Triton reads it once, when a kernel is defined.
INTERPRETED = HAS_TRITON and os.environ.get("TRITON_INTERPRET") == "1"
KERNEL_DTYPES = (torch.bfloat16, torch.float16, torch.float32)


def _zero(*_: int) -> int:
    return 0


# Interpreted kernels run where there is no device that torch, made for CUDA, could be asked for.
_CUDA = None if INTERPRETED and not torch.cuda.is_available() else torch._C
current_device: Callable[[], int] = getattr(_CUDA, "_cuda_getDevice", _zero)
"""The number of the thread's current CUDA device; 0 for a torch without CUDA, and for interpreted kernels
without a device."""
stream_of: Callable[[int], int] = getattr(_CUDA, "_cuda_getCurrentRawStream", _zero)
"""The current stream of a CUDA device; 0 as above."""


class Chip(NamedTuple):
    """A CUDA device: its name, compute capability as (9, 0), multiprocessors."""

    name: str
    capability: tuple[int, int]
    multiprocessors: int


@cache
def chip(index: int) -> Chip:
    """The CUDA device `index`; under the interpreter a small sm_80 that does not exist."""
    if INTERPRETED:
        return Chip("Triton's interpreter", (8, 0), 4)
    properties = torch.cuda.get_device_properties(index)
    return Chip(properties.name, (properties.major, properties.minor), properties.multi_processor_count)


def dependent_launch(chip: Chip) -> bool:
    """Whether a kernel may start while the one before it ends."""
    return chip.capability[0] >= 9


def why_no_kernel(device: torch.device, dtype: torch.dtype) -> str | None:
    """Why the reference runs for tensors of `dtype` on `device`, or None where a kernel does."""
    if not HAS_TRITON:
        return "triton is not installed"
    if dtype not in KERNEL_DTYPES:
        return f"there is no kernel for {str(dtype).removeprefix('torch.')}"
    if INTERPRETED:
        return None if device.type in ("cpu", "cuda") else f"there is no kernel for a {device.type} device"
    if device.type != "cuda":
        return f"there is no kernel for a {device.type} device"
    if torch.version.hip is not None:
        return "the kernels are made for CUDA"
    if torch.compiler.is_compiling():
        return None  # the operators ask again when they run; Dynamo does not know `cache`
    return _too_old(device.index)


@cache
def _too_old(index: int | None) -> str | None:
    major, minor = torch.cuda.get_device_capability(index)
    return None if major >= 8 else f"sm_{major}{minor} is older than sm_80"


def kind_of(dtype: torch.dtype) -> Kind:
    """How products in `dtype` are made; fp32 as `torch.backends.cuda.matmul` has it."""
    if dtype != torch.float32:
        return "half"
    return "tf32" if torch.backends.cuda.matmul.fp32_precision == "tf32" else "ieee"
