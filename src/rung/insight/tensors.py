"""The tensors an op was given, as far as the recording tells: shapes, dtypes, bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rung.trace import Op

DTYPE_BYTES = {
    "float": 4,
    "double": 8,
    "int": 4,
    "long": 8,
    "long int": 8,
    "short": 2,
    "signed char": 1,
    "unsigned char": 1,
    "bool": 1,
    "c10::BFloat16": 2,
    "c10::Half": 2,
    "c10::Float8_e4m3fn": 1,
    "c10::Float8_e5m2": 1,
    "c10::Float8_e4m3fnuz": 1,
    "c10::Float8_e5m2fnuz": 1,
    "c10::complex<float>": 8,
    "c10::complex<double>": 16,
}
"""Bytes an element, by the C++ type name that Kineto writes into `Input type`."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A shape and the dtype's C++ name."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of a dense tensor of this shape."""
        return self.numel * DTYPE_BYTES[self.dtype]


def inputs(op: Op) -> list[Tensor]:
    """The op's tensor inputs of known dtype, in order; scalars and absent inputs are left out."""
    found = []
    for shape, dtype in zip(op.shapes, op.dtypes, strict=False):
        known = is_shape(shape) and isinstance(dtype, str) and dtype in DTYPE_BYTES
        if known and not (shape == [] and dtype in _SCALAR_DTYPES):
            found.append(Tensor(tuple(shape), dtype))
    return found


def is_shape(dims: object) -> bool:
    """Whether an entry of `Input Dims` is one tensor's shape: of a list of tensors it is a list of shapes."""
    return isinstance(dims, list) and all(isinstance(n, int) and n >= 0 for n in dims)


_SCALAR_DTYPES = frozenset({"double", "long", "int", "bool", "float"})
"""How Kineto writes a Python number, with shape []. A 0-d tensor looks the same and weighs nothing."""


def broadcast(tensors: list[Tensor]) -> tuple[int, ...] | None:
    """The shape that pointwise arithmetic on these tensors has; None if they do not broadcast."""
    rank = max((len(t.shape) for t in tensors), default=0)
    shape = []
    for sizes in zip(*((1,) * (rank - len(t.shape)) + t.shape for t in tensors), strict=True):
        wide = {n for n in sizes if n != 1}
        if len(wide) > 1:
            return None
        shape.append(wide.pop() if wide else 1)
    return tuple(shape)
