"""The events of a file as text, each as it stands there or, where it is damaged, as it was mended."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec
from msgspec import Raw

from rung.errors import UnreadableTraceError
from rung.trace import clock
from rung.trace.document import decode
from rung.trace.events import decode_events
from rung.trace.pieces import Pieces
from rung.trace.repair import UNDECODABLE
from rung.trace.roles import DEVICE_SIDE, Role, role_of
from rung.trace.salvage import salvage
from rung.trace.source import WHAT_A_TRACE_IS, Source
from rung.trace.stream import Stream, open_source

NULL = Raw(b"null")


class Line(msgspec.Struct, gc=False):
    """What places an event: its phase, times and track."""

    ph: str = ""
    cat: str = ""
    ts: Raw = NULL
    dur: Raw = NULL
    pid: Raw = NULL
    tid: Raw = NULL

    @property
    def start_ns(self) -> int | None:
        """None where the event has no time."""
        return _ns(self.ts)

    @property
    def dur_ns(self) -> int:
        return max(_ns(self.dur) or 0, 0)

    @property
    def on_device(self) -> bool:
        """Whether it is a kernel, a copy or a memset."""
        pid = msgspec.json.decode(self.pid)
        return role_of(self.cat, pid if isinstance(pid, str) else None) in DEVICE_SIDE

    @property
    def is_frame(self) -> bool:
        return role_of(self.cat, None) is Role.FRAME

    @property
    def track(self) -> bytes:
        return bytes(self.pid) + b" " + bytes(self.tid)


def _ns(number: Raw) -> int | None:
    ns = clock.from_text(bytes(number).decode("ascii", "replace"))
    return None if ns == clock.NO_TIME else ns


@dataclass(slots=True)
class RawTrace:
    """A file whose events can be gone through more than once. `header` is whole after the first time.

    `repaired` and `skipped` count what was damaged.
    """

    source: Source | Stream
    header: dict[str, Raw] = field(default_factory=dict)
    repaired: int = 0
    skipped: int = 0
    _texts: list[bytes] | None = None

    def events(self) -> Iterator[tuple[Line, bytes]]:
        """Each event and its text, in the order of the file."""
        texts = self._texts if self._texts is not None else self._strictly()
        for text in texts:
            yield _LINE.decode(text), text

    def _strictly(self) -> Iterator[bytes]:
        pieces = Pieces(self.source.blocks(), _checked)
        for events, _ in pieces:
            for event in events:
                yield bytes(event)
        self.header = pieces.header


def _checked(text: bytes) -> list[Raw]:
    """The events of a list, if `read` would take them as they stand."""
    decode_events(text)
    return _RAW.decode(text)


_RAW = msgspec.json.Decoder(list[Raw])
_LINE = msgspec.json.Decoder(Line)


def open_raw(path: str | os.PathLike[str]) -> RawTrace:
    """The events of a trace file; of a damaged one those that `read` keeps, of two writers both.

    Raises:
        UnreadableTraceError: as `read` does.
    """
    source = open_source(path)
    try:
        found = RawTrace(source)
        for _ in found.events():
            pass
    except UNDECODABLE:
        found = _salvaged(source.whole())
    return found


def _salvaged(source: Source) -> RawTrace:
    mended = salvage(source.data, cut=source.cut)
    if mended is None:
        decode(source, salvage=True)  # says why it is no trace
        raise UnreadableTraceError(f"{source.path} holds no trace events. {WHAT_A_TRACE_IS}")
    return RawTrace(source, mended.header, mended.repaired, mended.skipped, mended.texts)
