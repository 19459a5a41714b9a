"""Memory for results and between kernels, by the shortest way there is.

On an H200's host `torch.empty` takes 6.1 µs of CPU time, `new_empty` 4.4, the entry that Inductor's code goes
by 2.1: it allocates on the current device and passes the dispatcher by, which is all right once it is known
that nothing else wants to see the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Make = Callable[[], torch.Tensor]
"""Makes a new contiguous tensor, its elements as memory has them."""


def prepare(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Make:
    """How to make a tensor like this, again and again."""

    def make() -> torch.Tensor:
        return torch.empty(shape, dtype=dtype, device=device)

    quick = getattr(getattr(torch._C._dynamo, "guards", None), "_empty_strided_cuda", None)
    if device.type != "cuda" or quick is None:
        return make
    index, strides, current_device = device.index, _contiguous(shape), torch._C._cuda_getDevice

    def make_quickly() -> Any:
        return quick(shape, strides, dtype) if current_device() == index else make()

    return make_quickly


def _contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))
