"""The arguments of device events and runtime calls that links are made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from msgspec import Raw
from numpy.typing import NDArray

from rung.trace.events import decode_args
from rung.trace.repair import UNDECODABLE

Id = int | float | str | None


class LinkArgs(msgspec.Struct, gc=False):
    correlation: Id = None
    stream: Id = None
    sycl_queue: Id = msgspec.field(name="sycl queue", default=None)
    device: Id = None
    graph: Id = msgspec.field(name="graph id", default=None)


@dataclass(frozen=True, slots=True)
class LinkColumns:
    """What calls and device work say of their links, each in file order.

    Correlations are 0 where there is none, `stream` and `device` are None where nothing names them.
    """

    of_calls: NDArray[np.int64]
    of_work: NDArray[np.int64]
    stream: list[int | str | None]
    device: list[int | str | None]
    graph: NDArray[np.bool_]

    def followed_by(self, other: LinkColumns) -> LinkColumns:
        """The rows of two tables as one."""
        return LinkColumns(
            np.concatenate([self.of_calls, other.of_calls]),
            np.concatenate([self.of_work, other.of_work]),
            self.stream + other.stream,
            self.device + other.device,
            np.concatenate([self.graph, other.graph]),
        )


class LinkGathering:
    """Collects `LinkColumns`, batch by batch."""

    def __init__(self) -> None:
        self._of_calls = [np.zeros(0, dtype=np.int64)]
        self._of_work = [np.zeros(0, dtype=np.int64)]
        self._stream: list[int | str | None] = []
        self._device: list[int | str | None] = []
        self._graph: list[bool] = []

    def add(self, calls: list[Raw], work: list[Raw]) -> None:
        """The arguments of calls and of device work."""
        self._of_calls.append(_integers([one.correlation for one in all_link_args(calls)]))
        links = all_link_args(work)
        self._of_work.append(_integers([one.correlation for one in links]))
        self._stream += _ids([one.stream if one.stream is not None else one.sycl_queue for one in links])
        self._device += _ids([one.device for one in links])
        self._graph += [bool(one.graph and as_int(one.graph)) for one in links]

    def columns(self) -> LinkColumns:
        return LinkColumns(
            np.concatenate(self._of_calls),
            np.concatenate(self._of_work),
            self._stream,
            self._device,
            np.array(self._graph, dtype=bool),
        )


_ALL = msgspec.json.Decoder(list[LinkArgs])
_ONE = msgspec.json.Decoder(LinkArgs)
_DIGITS = re.compile(r"-?\d{1,18}")


def all_link_args(texts: Sequence[Raw]) -> list[LinkArgs]:
    """Decode what links need, all at once where nothing is odd about any of them."""
    try:
        return _ALL.decode(b"[" + b",".join(texts) + b"]")
    except UNDECODABLE:
        return [link_args(text) for text in texts]


def link_args(raw: Raw) -> LinkArgs:
    """Decode what links need; an argument of another type counts as absent."""
    try:
        return _ONE.decode(raw)
    except UNDECODABLE:
        args = decode_args(raw)
    fields = {field.name: args.get(field.encode_name) for field in msgspec.structs.fields(LinkArgs)}
    return LinkArgs(**{name: value for name, value in fields.items() if isinstance(value, int | float | str)})


def _integers(values: list[Id]) -> NDArray[np.int64]:
    """Ids as integers, 0 for what is none."""
    if set(map(type, values)) == {int}:
        try:
            return np.array(values, dtype=np.int64)
        except OverflowError:
            pass
    return np.array([as_int(value) or 0 for value in values], dtype=np.int64)


def _ids(values: list[Id]) -> list[int | str | None]:
    return values if set(map(type, values)) == {int} else [as_id(value) for value in values]  # type: ignore[return-value]


def as_int(value: Id) -> int | None:
    """The integer an id was written as, `7` or `"7"`; None for anything else."""
    if isinstance(value, str):
        return int(value) if _DIGITS.fullmatch(value.strip()) else None
    if isinstance(value, bool) or value is None or not -(2**63) < value < 2**63:
        return None
    return int(value) if value == int(value) else None


def as_id(value: Id) -> int | str | None:
    """An id as an integer where it is one, else as text."""
    number = as_int(value)
    return number if number is not None or value is None else str(value)
