"""Cut the text of a trace into lists of whole events, without a look at what is in them.

A cut is only ever right: what lies before it decodes strictly as a list of values, so that the cut is between
two of them. Where none can be found the rest of the text is one piece.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

import msgspec
from msgspec import Raw

from rung.trace.repair import is_utf8

PIECE = 1 << 19
"""Bytes: what a core keeps near it. Pieces of 8 MiB take a quarter longer."""

LONGEST = 1 << 24
"""Bytes in which the events begin, and in which a cut shows, or the rest is not looked at piece by piece."""

T = TypeVar("T")

OPENING = re.compile(rb'"traceEvents"\s*:\s*\[')
CUT = re.compile(rb'\},\s*\{\s*"(?:ph|name|cat|pid|tid|ts)"\s*:')
_MEMBERS = msgspec.json.Decoder(dict[str, Raw])
FIRST = b'{"traceEvents":['


class Pieces(Generic[T]):
    """The events of a trace, decoded piece by piece; `header` is whole once they are exhausted.

    Iterating raises what `decode` does, or `msgspec.DecodeError`, for a text that is no sound trace.
    """

    def __init__(self, blocks: Iterator[bytes], decode: Callable[[bytes], T]) -> None:
        self._blocks = blocks
        self._decode = decode
        self.header: dict[str, Raw] = {}
        self.behind: frozenset[str] = frozenset()
        """The names of the header's members that stand behind the events."""

    def __iter__(self) -> Iterator[tuple[T, bytes]]:
        """What was decoded, and its text."""
        text = next(self._blocks, b"")
        bare = text.lstrip()[:1] == b"["
        while not bare and len(text) < LONGEST and not OPENING.search(text):
            if not (block := next(self._blocks, b"")):
                break
            text += block
        start = _after_bracket(text) if bare else self._after_header(text)
        if start is None:  # the events begin late, or nowhere
            yield self._last(text + b"".join(self._blocks), whole=True, bare=bare)
            return
        text = text[start:]
        for block in self._blocks:
            cut = _last_cut(text)
            if not cut and len(text) < LONGEST:
                text += block
                continue
            piece = b"".join((b"[", memoryview(text)[:cut], b"]")) if cut else b""
            try:
                decoded = self._decode(piece) if cut else None
            except msgspec.DecodeError:  # their list ends in this piece, or it is damaged
                decoded = None
            if decoded is None:
                text += block + b"".join(self._blocks)
                break
            _check(piece)
            yield decoded, piece
            text = b"".join((memoryview(text)[cut + 1 :], block))
        yield self._last(text, whole=False, bare=bare)

    def _after_header(self, text: bytes) -> int | None:
        """Where the events begin; the members before them go to the header."""
        opening = OPENING.search(text)
        members = header_before(text, opening) if opening else None
        if opening is None or members is None:
            return None
        self.header = members
        return opening.end()

    def _last(self, text: bytes, *, whole: bool, bare: bool) -> tuple[T, bytes]:
        """The last piece: the end of the list and what follows it."""
        _check(text)
        if bare:
            events = text if whole else b"[" + text
            return self._decode(events), events
        if not whole and OPENING.search(text):
            raise msgspec.DecodeError("two lists of events")
        members = _MEMBERS.decode(text if whole else FIRST + text)
        events = bytes(members.pop("traceEvents", Raw(b"[]")))
        self.header |= members
        self.behind = frozenset(members)
        return self._decode(events), events


def header_before(text: bytes, opening: re.Match[bytes]) -> dict[str, Raw] | None:
    """The members before the events; None if the match lies in a string, or deeper, or they are damaged."""
    head = text[: opening.start()].rstrip().removesuffix(b",") + b"}"
    try:
        _check(head)
        return _MEMBERS.decode(head)
    except msgspec.DecodeError:
        return None


def _after_bracket(text: bytes) -> int:
    return text.index(b"[") + 1


def _last_cut(text: bytes) -> int:
    """Where the comma between two events is that lies last; 0 if none is found."""
    for window in (1 << 12, len(text)):
        cuts = list(CUT.finditer(text, max(len(text) - window, 0)))
        if cuts:
            return cuts[-1].start() + 1
    return 0


def _check(text: bytes) -> None:
    if not is_utf8(text):  # strict decoding passes over strings it does not need
        raise msgspec.DecodeError("invalid UTF-8")
