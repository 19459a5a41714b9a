"""The tensors an op was given, as far as the recording tells: shapes, dtypes, bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from typing import Any, TypeGuard

import msgspec
from msgspec import Raw

from rung.trace import Op
from rung.trace.repair import UNDECODABLE

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
    """A shape, the dtype's C++ name (empty if unknown), and how many elements of the shape share one in
    memory: the product of the dimensions with stride 0, as `expand` leaves them."""

    shape: tuple[int, ...]
    dtype: str
    shared: int = 1

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of memory it takes, without gaps."""
        return self.numel // self.shared * DTYPE_BYTES[self.dtype]


def inputs(op: Op) -> list[Tensor]:
    """The op's tensor inputs of known dtype, in order; scalars and absent inputs are left out."""
    return [t for t in call_of(op).tensors if t is not None and t.dtype]


@dataclass(frozen=True, slots=True)
class Call:
    """What an op was called with, position by position of its schema.

    `tensors` has None for scalars, absent tensors and lists; `lists` the shapes of a list of tensors, whose
    dtype is not recorded; `texts` the scalars as Python would write them, `""` where they were not recorded.
    `strange` says that a tensor is of a dtype not known here (quantised, say), so that nothing can be
    counted.
    """

    name: str
    tensors: tuple[Tensor | None, ...]
    lists: tuple[tuple[tuple[int, ...], ...] | None, ...]
    texts: tuple[str, ...]
    strange: bool = False

    def tensor(self, at: int) -> Tensor | None:
        return self.tensors[at] if at < len(self.tensors) else None

    def given(self, *at: int) -> list[Tensor] | None:
        """The tensors at these positions; None if one is absent."""
        found = [self.tensor(i) for i in at]
        return None if None in found else [t for t in found if t is not None]

    def some(self, *at: int) -> list[Tensor]:
        """The tensors at these positions that are there."""
        return [t for i in at if (t := self.tensor(i)) is not None]

    def list(self, at: int) -> tuple[tuple[int, ...], ...] | None:
        return self.lists[at] if at < len(self.lists) else None

    def text(self, at: int) -> str:
        return self.texts[at] if at < len(self.texts) else ""

    def numbers(self, at: int) -> tuple[int, ...] | None:
        """`"[1, 2]"` as (1, 2), `"3"` as (3,); None if it is not recorded."""
        words = self.text(at).strip("[]").split(",")
        try:
            return tuple(int(word) for word in words)
        except ValueError:
            return () if self.text(at) == "[]" else None

    def flag(self, at: int) -> bool | None:
        return {"True": True, "False": False}.get(self.text(at))


class _Recorded(msgspec.Struct):
    """The arguments that tell a call, as their text: alike calls have alike texts, whatever their ids."""

    dims: Raw = msgspec.field(default=Raw(b"null"), name="Input Dims")
    old_dims: Raw = msgspec.field(default=Raw(b"null"), name="Input dims")
    types: Raw = msgspec.field(default=Raw(b"null"), name="Input type")
    strides: Raw = msgspec.field(default=Raw(b"null"), name="Input Strides")
    texts: Raw = msgspec.field(default=Raw(b"null"), name="Concrete Inputs")


_recorded = msgspec.json.Decoder(_Recorded)


def call_of(op: Op) -> Call:
    """What an op was called with; a model's layers call alike, and are decoded once."""
    try:
        return _told(op.name, op.trace.span_args()[int(op.trace.tables.ops.span[op.row])])
    except UNDECODABLE:
        return _told(op.name, msgspec.json.encode(op.args))  # as far as they could be repaired


def _told(name: str, args: bytes) -> Call:
    return _call(name, *recorded(args))


def recorded(args: bytes) -> tuple[bytes, ...]:
    """What tells a call, of an event's arguments: alike calls have alike texts, whatever their ids.

    Raises:
        UNDECODABLE: the text is damaged.
    """
    found = _recorded.decode(args)
    return (
        bytes(found.dims),
        bytes(found.old_dims),
        bytes(found.types),
        bytes(found.strides),
        bytes(found.texts),
    )


@lru_cache(maxsize=16384)
def _call(name: str, *told: bytes) -> Call:
    dims, old_dims, types, strides, texts = (
        value if is_list(value := msgspec.json.decode(text)) else [] for text in told
    )
    dims = dims or old_dims
    rows = list(zip_longest(dims, types[: len(dims)], strides[: len(dims)]))
    return Call(
        name,
        tuple(_tensor(*row) for row in rows),
        tuple(_shapes(shape) for shape, *_ in rows),
        tuple(text if isinstance(text, str) else "" for text in texts),
        bool(types)
        and any(shape and is_shape(shape) and dtype not in DTYPE_BYTES for shape, dtype, _ in rows),
    )


def _tensor(shape: object, dtype: object, strides: object) -> Tensor | None:
    """A tensor; None for a scalar, an absent tensor and what is no shape."""
    known = dtype if isinstance(dtype, str) and dtype in DTYPE_BYTES else ""
    if not is_shape(shape) or (shape == [] and (not known or known in _SCALAR_DTYPES)):
        return None
    return Tensor(tuple(shape), known, _shared(shape, strides))


def _shared(shape: list[int], strides: object) -> int:
    """How many elements of a shape share one in memory."""
    if not is_list(strides) or len(strides) != len(shape):
        return 1
    return math.prod(n for n, stride in zip(shape, strides, strict=True) if stride == 0 and n)


def _shapes(dims: object) -> tuple[tuple[int, ...], ...] | None:
    """The shapes of a list of tensors."""
    if not is_list(dims) or not dims or not all(is_shape(inner) for inner in dims):
        return None
    return tuple(map(tuple, dims))


def is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def is_shape(dims: object) -> TypeGuard[list[int]]:
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
