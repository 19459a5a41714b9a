"""Tensors as the kernels see them: rows with one stride, folded without a copy wherever that can be."""

from __future__ import annotations

import math
from typing import cast

import torch


def fold(tensor: torch.Tensor) -> torch.Tensor:
    """[..., C] as [rows, C]; a copy only where no single row stride walks the leading dimensions."""
    if tensor.ndim == 2:
        return tensor
    *leading, columns = tensor.shape
    return tensor.reshape(math.prod(leading), columns)


def lines(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Tensors of one shape as [rows, columns], columns side by side; one long row where all are
    contiguous."""
    if all(tensor.is_contiguous() for tensor in tensors):
        return tuple(tensor.view(1, -1) for tensor in tensors)
    folded = [fold(tensor) for tensor in tensors]
    return tuple(tensor if tensor.stride(1) == 1 else tensor.contiguous() for tensor in folded)


def vector_width(tensors: tuple[torch.Tensor | None, ...], *sizes: int) -> int:
    """Elements in 16 bytes if every address, row stride and size is a multiple of them and columns lie side
    by side; else 1."""
    first = tensors[0]
    assert first is not None
    width = 16 // int(first.element_size())
    if any(size % width for size in sizes):
        return 1
    for tensor in tensors:
        if tensor is None:
            continue
        if not tensor.is_meta and tensor.data_ptr() % 16:  # a stand-in has no address
            return 1
        if tensor.stride(-1) != 1:
            return 1
        if tensor.ndim == 2 and tensor.stride(0) % width:
            return 1
    return width


def device_index(tensor: torch.Tensor) -> int:
    """The CUDA device's number; 0 under the interpreter."""
    return cast(int, tensor.device.index or 0)
