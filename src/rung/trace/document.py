"""From the bytes of a trace to its events and header, strictly; damage goes through `salvage` first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec
import numpy as np
from msgspec import Raw

from rung.errors import UnreadableTraceError
from rung.trace import clock
from rung.trace import salvage as salvage_
from rung.trace.clock import Ints
from rung.trace.events import Event
from rung.trace.repair import UNDECODABLE, is_utf8
from rung.trace.source import WHAT_A_TRACE_IS, Source
from rung.trace.warnings import Warning


class _Times(msgspec.Struct, gc=False):
    """The same record, its times as text: for timestamps that a float64 cannot hold."""

    ts: Raw = Raw(b"null")
    dur: Raw = Raw(b"null")


@dataclass(slots=True)
class Document:
    """A decoded file. `start` and `dur` are the events' times in ns, `clock.NO_TIME` where there is none."""

    path: str
    events: list[Event]
    start: Ints
    dur: Ints
    header: dict[str, Raw] = field(default_factory=dict)
    warnings: list[Warning] = field(default_factory=list)
    skipped: int = 0
    repaired: int = 0


def decode(source: Source, salvage: bool = False) -> Document:
    """Decode a trace: an object with `traceEvents`, or a bare list of events.

    `salvage` also takes a file that two processes wrote at once.

    Raises:
        UnreadableTraceError: the text is no JSON that could be repaired, holds no events, or has two writers.
    """
    try:
        document = _strictly(source)
    except UNDECODABLE as error:
        document = _tolerantly(source, error, salvage)
    if not any(event.ph for event in document.events):
        raise UnreadableTraceError(f"{source.path} is JSON, but holds no trace events. {WHAT_A_TRACE_IS}")
    return document


def _strictly(source: Source) -> Document:
    if source.cut:
        raise msgspec.DecodeError("the gzip stream is cut short")
    header, text = _split(source.data)
    if not is_utf8(source.data):  # strict decoding passes over strings it does not need
        raise msgspec.DecodeError("invalid UTF-8")
    events = _EVENTS.decode(text)
    return Document(source.path, events, *_times(events, lambda: text), header)


_EVENTS = msgspec.json.Decoder(list[Event])
_TIMES = msgspec.json.Decoder(list[_Times])
_HEADER = msgspec.json.Decoder(dict[str, Raw])


def _split(data: bytes) -> tuple[dict[str, Raw], Raw]:
    """The top-level object's members, and the text of its list of events."""
    if data.lstrip()[:1] == b"[":
        return {}, Raw(data)
    header = _HEADER.decode(data)
    return header, header.pop("traceEvents", Raw(b"[]"))


def _tolerantly(source: Source, error: Exception, salvage: bool) -> Document:
    found = salvage_.salvage(source.data, cut=source.cut)
    if found is None:
        raise UnreadableTraceError(_why_unreadable(source, error))
    if "two-writers" in found.damage and not salvage:
        _, offset = found.damage["two-writers"]
        raise UnreadableTraceError(
            f"{source.path} was written by two processes at once (two-writers): from byte {offset} on, other "
            "processes than before. Record to a file for each; --salvage reads every intact event of both."
        )
    return Document(
        source.path,
        found.events,
        *_times(found.events, lambda: Raw(b"[" + b",".join(found.texts) + b"]")),
        found.header,
        found.warnings,
        found.skipped,
        found.repaired,
    )


def _why_unreadable(source: Source, error: Exception) -> str:
    if isinstance(error, msgspec.ValidationError):
        return f"{source.path} is JSON, but holds no trace events. {WHAT_A_TRACE_IS}"
    first = source.data.lstrip()[:1]
    if first not in (b"{", b"["):
        shown = first.decode() if first.isalnum() else f"0x{first[0]:02x}"
        return f"{source.path} is not a trace: it is not JSON (first byte {shown!r}). {WHAT_A_TRACE_IS}"
    return f"{source.path} is not a trace: {error}, and no whole event could be found. {WHAT_A_TRACE_IS}"


def _times(events: list[Event], text: Callable[[], Raw]) -> tuple[Ints, Ints]:
    """Starts and durations in ns. The text is looked at only where a float64 is too coarse."""
    start = clock.from_numbers([event.ts for event in events])
    dur = clock.from_numbers([event.dur for event in events])
    if start is not None and dur is not None:
        return start, dur
    exact = _TIMES.decode(text())
    return (
        np.array([clock.from_text(_text(times.ts)) for times in exact], dtype=np.int64),
        np.array([clock.from_text(_text(times.dur)) for times in exact], dtype=np.int64),
    )


def _text(raw: Raw) -> str:
    return bytes(raw).decode("ascii", "replace")
