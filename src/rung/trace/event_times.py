"""When events begin and how long they last, in ns."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from msgspec import Raw

from rung.trace import clock
from rung.trace.clock import NO_TIME, Ints
from rung.trace.events import Event


class _Start(msgspec.Struct, gc=False):
    ts: Raw = Raw(b"null")


class _Dur(msgspec.Struct, gc=False):
    dur: Raw = Raw(b"null")


_STARTS = msgspec.json.Decoder(list[_Start])
_DURS = msgspec.json.Decoder(list[_Dur])


def event_times(events: Sequence[Event], text: bytes) -> tuple[Ints, Ints]:
    """Starts and durations in ns. The events' `text` is looked at only where a float64 is too coarse."""
    starts, durs = [event.ts for event in events], [event.dur for event in events]
    start = clock.from_numbers(starts)
    if start is None:
        start = _from_texts([one.ts for one in _STARTS.decode(text)], starts)
    dur = clock.from_numbers(durs)
    if dur is None:
        dur = _from_texts([one.dur for one in _DURS.decode(text)], durs)
    return start, dur


def _from_texts(texts: list[Raw], coarse: list[int | float | None]) -> Ints:
    """Exact ns from the digits: all at once where they have three decimals, as Kineto writes them."""
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
