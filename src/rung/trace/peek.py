"""The header of a trace without its events."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Raw

from rung.trace.document import decode
from rung.trace.model import Header
from rung.trace.pieces import OPENING, header_before
from rung.trace.source import Source
from rung.trace.stream import Progress, Stream, open_source

TAIL = 1 << 20
"""Bytes at the end of a file in which the members behind its events are looked for."""

_MEMBERS = msgspec.json.Decoder(dict[str, Raw])
_CLOSING = re.compile(rb"[}\[]\s*\]")


def read_header(path: str | os.PathLike[str], progress: Progress | None = None) -> tuple[Header, bool]:
    """The top-level members, and whether they are all.

    Of a big gzip file only the beginning is inflated if there are members before the events: those behind
    them (`traceName`, `displayTimeUnit`) are then left out. A damaged file is read as `read` does.

    Raises:
        UnreadableTraceError: as `read` does.
    """
    source = open_source(path, progress, anew=True)
    try:
        found = _around(source)
    except msgspec.DecodeError:
        found = None
    return found or (Header(decode(source, salvage=True).header), True)


def _around(source: Source | Stream) -> tuple[Header, bool] | None:
    """The members before and behind the events; None where they do not show at a glance."""
    blocks = source.blocks()
    text = next(blocks, b"")
    opening = OPENING.search(text)
    members = header_before(text, opening) if opening else None
    if opening is None or members is None:
        return None
    if members and isinstance(source, Stream) and source.is_deflated():
        return Header(members), False
    behind = _members_behind(_tail(source, text[opening.end() :], blocks))
    return (Header(members | behind), True) if behind is not None else None


def _tail(source: Source | Stream, text: bytes, blocks: Iterator[bytes]) -> bytes:
    """The end of the text. A plain file is not read for it."""
    if isinstance(source, Stream) and not source.is_deflated():
        with Path(source.file).open("rb") as file:
            file.seek(-min(TAIL, os.path.getsize(source.file)), os.SEEK_END)
            return file.read()
    for block in blocks:
        text = text[-TAIL:] + block
    return text


def _members_behind(tail: bytes) -> dict[str, Raw] | None:
    """The members behind the bracket that closes the events: the first after which an object just ends."""
    for closing in _CLOSING.finditer(tail):
        after = tail[closing.end() :].lstrip()
        if after[:1] in (b",", b"}"):
            with contextlib.suppress(msgspec.DecodeError):
                return _MEMBERS.decode(b"{" + after.removeprefix(b","))
    return None
