"""From the bytes of a trace to its events and header, strictly; damage goes through `salvage` first."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field

import msgspec
from msgspec import Raw

from rung.errors import UnreadableTraceError
from rung.trace import salvage as salvage_
from rung.trace.gather import EventTable, Gathering, gathered
from rung.trace.halves import decode_halves, halves
from rung.trace.repair import UNDECODABLE
from rung.trace.source import WHAT_A_TRACE_IS, Source
from rung.trace.stream import Stream
from rung.trace.warnings import Warning


@dataclass(slots=True)
class Document:
    """A decoded file, its events as columns."""

    path: str
    events: EventTable
    header: dict[str, Raw] = field(default_factory=dict)
    warnings: list[Warning] = field(default_factory=list)
    skipped: int = 0
    repaired: int = 0


def decode(source: Source | Stream, salvage: bool = False, stacks: bool = True) -> Document:
    """Decode a trace: an object with `traceEvents`, or a bare list of events.

    `salvage` also takes a file that two processes wrote at once; without `stacks` Python frames are left out.

    Raises:
        UnreadableTraceError: the text is no JSON that could be repaired, holds no events, or has two writers.
    """
    try:
        document = _strictly(source, stacks)
    except UNDECODABLE as error:
        document = _tolerantly(source.whole(), error, salvage, stacks)
    if not document.events.any_phase:
        raise UnreadableTraceError(f"{source.path} is JSON, but holds no trace events. {WHAT_A_TRACE_IS}")
    return document


def _strictly(source: Source | Stream, stacks: bool) -> Document:
    """In halves, if that pays; in one, if it does not, or did not work out."""
    parts = halves(source) if isinstance(source, Stream) else None
    if parts:
        with contextlib.suppress(*UNDECODABLE, OSError):
            return Document(source.path, *decode_halves(*parts, stacks))
    events, pieces = gathered(source, stacks)
    return Document(source.path, events, pieces.header)


def _tolerantly(source: Source, error: Exception, salvage: bool, stacks: bool) -> Document:
    found = salvage_.salvage(source.data, cut=source.cut)
    if found is None:
        raise UnreadableTraceError(_why_unreadable(source, error))
    if "two-writers" in found.damage and not salvage:
        _, offset = found.damage["two-writers"]
        raise UnreadableTraceError(
            f"{source.path} was written by two processes at once (two-writers): from byte {offset} on, other "
            "processes than before. Record to a file for each; --salvage reads every intact event of both."
        )
    gathering = Gathering(stacks)
    gathering.add(found.events, b"[" + b",".join(found.texts) + b"]")
    return Document(
        source.path, gathering.table(), found.header, found.warnings, found.skipped, found.repaired
    )


def _why_unreadable(source: Source, error: Exception) -> str:
    if isinstance(error, msgspec.ValidationError):
        return f"{source.path} is JSON, but holds no trace events. {WHAT_A_TRACE_IS}"
    first = source.data.lstrip()[:1]
    if first not in (b"{", b"["):
        shown = first.decode() if b" " < first < b"\x7f" else f"0x{first[0]:02x}"
        return f"{source.path} is not a trace: it is not JSON (first byte {shown!r}). {WHAT_A_TRACE_IS}"
    return f"{source.path} is not a trace: {error}, and no whole event could be found. {WHAT_A_TRACE_IS}"
