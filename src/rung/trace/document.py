"""From the bytes of a trace to its events and header, strictly; damage goes through `salvage` first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
from msgspec import Raw
from numpy.typing import NDArray

from rung.errors import UnreadableTraceError
from rung.trace import clock, salvage
from rung.trace.source import WHAT_A_TRACE_IS, Source
from rung.trace.warnings import Warning

NO_ARGS = Raw(b"{}")


class Event(msgspec.Struct, gc=False):
    """One record of `traceEvents`. Times are microseconds, as written; `args` stays text until asked for."""

    ph: str = ""
    name: str = ""
    cat: str = ""
    ts: int | float | None = None
    dur: int | float | None = None
    pid: int | str | None = None
    tid: int | str | None = None
    id: int | str | None = None
    args: Raw = NO_ARGS


class _Times(msgspec.Struct, gc=False):
    """The same record, its times as text: for timestamps that a float64 cannot hold."""

    ts: Raw = Raw(b"null")
    dur: Raw = Raw(b"null")


@dataclass(slots=True)
class Document:
    """A decoded file. `start` and `dur` are the events' times in ns, `clock.NO_TIME` where there is none."""

    path: str
    events: list[Event]
    start: NDArray[np.int64]
    dur: NDArray[np.int64]
    header: dict[str, Raw] = field(default_factory=dict)
    warnings: list[Warning] = field(default_factory=list)
    skipped: int = 0
    repaired: int = 0


def decode(source: Source) -> Document:
    """Decode a trace: an object with `traceEvents`, or a bare list of events.

    Raises:
        UnreadableTraceError: the text is no JSON that could be repaired, or holds no trace events.
    """
    try:
        header, text = _split(source.data)
        if source.cut:
            raise msgspec.DecodeError("the gzip stream is cut short")
        if not salvage.is_utf8(source.data):  # strict decoding passes over strings it does not need
            raise msgspec.DecodeError("invalid UTF-8")
        events = _EVENTS.decode(text)
        document = Document(source.path, events, *_times(events, text), header)
    except msgspec.DecodeError as error:
        document = _salvaged(source, error)
    if not any(event.ph for event in document.events):
        raise UnreadableTraceError(f"{source.path} is JSON, but holds no trace events. {WHAT_A_TRACE_IS}")
    return document


_EVENTS = msgspec.json.Decoder(list[Event])
_TIMES = msgspec.json.Decoder(list[_Times])
_HEADER = msgspec.json.Decoder(dict[str, Raw])


def _split(data: bytes) -> tuple[dict[str, Raw], Raw]:
    """The top-level object's members, and the text of its list of events."""
    if data.lstrip()[:1] == b"[":
        return {}, Raw(data)
    header = _HEADER.decode(data)
    return header, header.pop("traceEvents", Raw(b"[]"))


def _salvaged(source: Source, error: msgspec.DecodeError) -> Document:
    found = salvage.repair(source.data, cut=source.cut)
    if found is None:
        raise UnreadableTraceError(_why_unreadable(source, error))
    events = _EVENTS.decode(found.events)
    header = _HEADER.decode(found.header)
    return Document(
        source.path,
        events,
        *_times(events, Raw(found.events)),
        header,
        list(found.warnings),
        found.skipped,
        found.repaired,
    )


def _why_unreadable(source: Source, error: msgspec.DecodeError) -> str:
    first = source.data.lstrip()[:1]
    if first not in b"{[" or not first:
        shown = first.decode("latin-1") if first.isascii() and first.isalnum() else f"0x{source.data[0]:02x}"
        return f"{source.path} is not a trace: it is not JSON (first byte {shown!r}). {WHAT_A_TRACE_IS}"
    if isinstance(error, msgspec.ValidationError):
        return f"{source.path} is JSON, but holds no trace events. {WHAT_A_TRACE_IS}"
    return f"{source.path} is not a trace: {error}, and no whole event could be found. {WHAT_A_TRACE_IS}"


def _times(events: list[Event], text: Raw) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    starts = [event.ts for event in events]
    durations = [event.dur for event in events]
    if clock.floats_suffice(starts) and clock.floats_suffice(durations):
        return clock.from_numbers(starts), clock.from_numbers(durations)
    exact = _TIMES.decode(text)
    return (
        np.array([clock.from_text(_text(times.ts)) for times in exact], dtype=np.int64),
        np.array([clock.from_text(_text(times.dur)) for times in exact], dtype=np.int64),
    )


def _text(raw: Raw) -> str:
    return bytes(raw).decode("ascii", "replace")


def decode_args(raw: Raw) -> dict[str, Any]:
    """An event's `args`, decoded; text that strict decoding passed over unread is repaired where it must be."""
    try:
        args = msgspec.json.decode(raw)
    except msgspec.DecodeError:
        args = msgspec.json.decode(salvage.repair_text(bytes(raw)).text)
    return args if isinstance(args, dict) else {}
