"""The arguments of device events and runtime calls that links are made of."""

from __future__ import annotations

import re

import msgspec
from msgspec import Raw

from rung.trace.events import decode_args

Id = int | float | str | None


class LinkArgs(msgspec.Struct, gc=False):
    correlation: Id = None
    stream: Id = None
    sycl_queue: Id = msgspec.field(name="sycl queue", default=None)
    device: Id = None
    graph: Id = msgspec.field(name="graph id", default=None)


_LINK_ARGS = msgspec.json.Decoder(LinkArgs)
_DIGITS = re.compile(r"-?\d{1,18}")


def link_args(raw: Raw) -> LinkArgs:
    """Decode what links need; an argument of another type counts as absent."""
    try:
        return _LINK_ARGS.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        args = decode_args(raw)
    fields = {field.name: args.get(field.encode_name) for field in msgspec.structs.fields(LinkArgs)}
    return LinkArgs(**{name: value for name, value in fields.items() if isinstance(value, int | float | str)})


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
