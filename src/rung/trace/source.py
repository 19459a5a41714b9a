"""From a path to the bytes of a trace."""

from __future__ import annotations

import codecs
import os
import re
import stat
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import msgspec

from rung import units
from rung.errors import UnreadableTraceError
from rung.trace.pieces import PIECE

GZIP_MAGIC = b"\x1f\x8b"
GZIP_WINDOW = 31  # zlib's word for "gzip header and trailer, 32 KiB window"

FIRST = 1 << 16
HEAD = 1 << 24
"""Bytes of text in which a trace, even one behind the noise of a log, has shown an event."""

_EVENT = re.compile(rb'"(?:ph|traceEvents)"')


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a trace, inflated. `cut` tells that the gzip stream ended before its trailer."""

    path: str
    data: bytes
    cut: bool = False

    def blocks(self) -> Iterator[bytes]:
        """The text in blocks of at most `PIECE` bytes.

        Raises:
            msgspec.DecodeError: the gzip stream was cut.
        """
        if self.cut:
            raise msgspec.DecodeError("the gzip stream is cut short")
        for start in range(0, len(self.data), PIECE):
            yield self.data[start : start + PIECE]

    def whole(self) -> Source:
        return self


def load(path: str | os.PathLike[str], file: str | None = None) -> Source:
    """Read a file, or standard input for `-`, and inflate it if it is gzip. `file` is where it lies if `path`
    is an address.

    Raises:
        UnreadableTraceError: the file is missing, a folder, a device, not permitted, or empty.
    """
    name = os.fspath(path)
    raw = _read_standard_input() if name == "-" else _read_file(file or name)
    return from_bytes("standard input" if name == "-" else name, raw)


def from_bytes(name: str, raw: bytes) -> Source:
    """The source that a file's bytes are.

    Raises:
        UnreadableTraceError: there is nothing in it to read.
    """
    if not raw.startswith(GZIP_MAGIC):
        return _checked(Source(name, raw))
    data, cut = _inflate(raw)
    if not data and cut:
        raise UnreadableTraceError(f"{name} is a gzip file with nothing readable in it. {WHAT_A_TRACE_IS}")
    return _checked(Source(name, data, cut))


def _checked(source: Source) -> Source:
    """The source without a byte order mark, if there is text in it that JSON may be written in."""
    data = source.data.removeprefix(codecs.BOM_UTF8)
    if not data or data.isspace():
        raise UnreadableTraceError(f"{source.path} is empty. {WHAT_A_TRACE_IS}")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UnreadableTraceError(f"{source.path} is UTF-16 text; a trace is UTF-8: convert it first.")
    return Source(source.path, data, source.cut)


WHAT_A_TRACE_IS = "A trace is what torch.profiler writes with export_chrome_trace."


def _read_standard_input() -> bytes:
    if sys.stdin is None:
        raise UnreadableTraceError("standard input is closed; a trace for - comes from a pipe or a file.")
    try:
        return _drained("standard input", sys.stdin.buffer)
    except OSError as error:
        reason = error.strerror or error
        raise UnreadableTraceError(f"standard input cannot be read: {reason}.") from None


def _drained(name: str, file: BinaryIO) -> bytes:
    """All there is, unless what comes first can be no trace: a pipe need not end.

    Raises:
        UnreadableTraceError: there is no sign of an event in the first `HEAD` bytes.
    """
    head = beginning = b""
    while max(len(head), len(beginning)) < HEAD:  # behind a deflated stream there may be anything
        if not (more := file.read(max(len(head), FIRST))):
            return head
        head += more
        beginning = _inflated_beginning(head)
        if _EVENT.search(beginning):
            return head + file.read()
    raise UnreadableTraceError(
        f"{name} is not a trace: no event in its first {units.size(HEAD)}. {WHAT_A_TRACE_IS}"
    )


def _inflated_beginning(head: bytes) -> bytes:
    if not head.startswith(GZIP_MAGIC):
        return head
    try:
        return zlib.decompressobj(GZIP_WINDOW).decompress(head, HEAD)
    except zlib.error:  # damaged further on
        return _inflate(head)[0]


def _read_file(name: str) -> bytes:
    if not name:
        raise UnreadableTraceError("the name of the trace is empty.")
    try:
        kind = os.stat(name).st_mode
        if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):  # /dev/zero has no end
            raise UnreadableTraceError(f"{name} is a device; a trace is a file, or a pipe.")
        with Path(name).open("rb") as file:
            return _drained(name, file)
    except FileNotFoundError:
        raise UnreadableTraceError(f"{name} does not exist.") from None
    except IsADirectoryError:
        raise UnreadableTraceError(f"{name} is a folder; name a trace file in it.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UnreadableTraceError(f"{name} cannot be read: {reason}.") from None


def _inflate(raw: bytes) -> tuple[bytes, bool]:
    """All that inflates of a (possibly multi-member) gzip stream, and whether it was cut or damaged."""
    parts: list[bytes] = []
    while raw.startswith(GZIP_MAGIC):
        member = zlib.decompressobj(GZIP_WINDOW)
        whole = _inflate_member(member, raw, parts)
        if not whole or not member.eof:
            return b"".join(parts), True
        raw = member.unused_data
    return b"".join(parts), False


def _inflate_member(member: zlib._Decompress, raw: bytes, parts: list[bytes]) -> bool:
    """Append what `member` inflates of `raw`; false when its data is damaged.

    A damaged block makes zlib raise and drop the output of that call, so the second try goes in small steps.
    """
    try:
        parts.append(member.decompress(raw))
        return True
    except zlib.error:
        pass
    again = zlib.decompressobj(GZIP_WINDOW)
    step = 256
    try:
        for start in range(0, len(raw), step):
            parts.append(again.decompress(raw[start : start + step]))
    except zlib.error:
        pass
    return False
