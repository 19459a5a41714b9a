"""When events begin and how long they last, in ns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from msgspec import Raw

from rung.trace import clock
from rung.trace.clock import NO_TIME, Ints

NULL = Raw(b"null")


class Written(msgspec.Struct, gc=False):
    """An event's times as they are written, and what tells it from others."""

    ph: str = ""
    cat: str = ""
    ts: Raw = NULL
    dur: Raw = NULL


_WRITTEN = msgspec.json.Decoder(list[Written])


def written(text: bytes) -> list[Written]:
    """The events of a text that was decoded before, this time for the digits."""
    return _WRITTEN.decode(text)


def in_ns(numbers: Sequence[float | None], digits: Callable[[], list[Raw]]) -> Ints:
    """Microseconds as decoded -> ns. The `digits` are asked for only where a float64 is too coarse."""
    ns = clock.from_numbers(numbers)
    return _from_digits(digits(), numbers) if ns is None else ns


def _from_digits(texts: list[Raw], coarse: Sequence[float | None]) -> Ints:
    """Exact ns: all at once where there are three decimals, as Kineto writes them."""
    about = clock.as_floats(coarse)
    known = np.flatnonzero(np.isfinite(about) & (np.abs(about) < clock.LIMIT_NS / 1000))
    ns = np.full(len(texts), NO_TIME, dtype=np.int64)
    digits = b",".join([texts[i] for i in known.tolist()]).replace(b".", b"")
    try:
        ns[known] = np.array(msgspec.json.decode(b"[" + digits + b"]", type=list[int]), dtype=np.int64)
        right = np.abs(ns[known] / 1000 - about[known]) < 1  # else a text had more or fewer decimals
    except (msgspec.DecodeError, OverflowError):
        right = np.zeros(len(known), dtype=bool)
    for i in known[~right].tolist():
        ns[i] = clock.from_text(bytes(texts[i]).decode("ascii", "replace"))
    return ns
