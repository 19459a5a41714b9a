"""`export`: one clean file from one trace or several."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from rung.trace.export.cutting import Stretch, Window
from rung.trace.export.raw import RawTrace, open_raw
from rung.trace.export.rewriting import Apart, Members, beside, rewritten, with_duration
from rung.trace.export.tracks import Repairs, Tracks


@dataclass(frozen=True, slots=True)
class Part:
    """A trace that goes into the file: its label, the stretch to keep (None for all), and how far its
    clock is moved."""

    path: str
    label: str
    keep: Stretch | None = None
    shift_ns: int = 0


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, and what it took: events outside the stretch, mended or skipped as damaged, cut to
    the slice around them, moved to a track beside their own."""

    path: Path
    events: int
    left_out: int
    repaired: int
    skipped: int
    trimmed: int
    moved: int


def export(parts: Sequence[Part], target: Path) -> Exported:
    """Write the traces into one file that any viewer takes whole; gzipped where the name ends in .gz.

    Several traces keep apart what would collide (processes, flows, correlations). The members beside the
    events are the first trace's.

    Raises:
        UnreadableTraceError: one of them is no trace.
        OSError: the file cannot be written; then none is left.
    """
    opened = [_Opened.of(part, number, len(parts)) for number, part in enumerate(parts)]
    events = write(target, opened[0].raw.header, (text for one in opened for text in one.texts()))
    return Exported(
        target,
        events,
        left_out=sum(one.left_out for one in opened),
        repaired=sum(one.raw.repaired for one in opened),
        skipped=sum(one.raw.skipped for one in opened),
        trimmed=sum(len(one.repairs.trimmed) for one in opened),
        moved=sum(len(one.repairs.moved) for one in opened),
    )


@dataclass(slots=True)
class _Opened:
    """A part on its way into the file."""

    raw: RawTrace
    repairs: Repairs
    keep: Stretch | None
    apart: Apart | None
    left_out: int = 0

    @classmethod
    def of(cls, part: Part, number: int, parts: int) -> _Opened:
        raw = open_raw(part.path)
        tracks = Tracks()
        window = Window(part.keep) if part.keep else None
        for i, (line, text) in enumerate(raw.events()):
            if window is None or window.keeps(line, text):
                tracks.add(i, line)
        apart = Apart(number, part.label, part.shift_ns) if parts > 1 else None
        return cls(raw, tracks.repairs(), part.keep, apart)

    def texts(self) -> Iterator[bytes]:
        window = Window(self.keep) if self.keep else None
        for i, (line, text) in enumerate(self.raw.events()):
            if window is not None and not window.keeps(line, text):
                self.left_out += 1
                continue
            changes = list(self._changes(i))
            yield rewritten(text, *changes) if changes else text

    def _changes(self, number: int) -> Iterator[Callable[[Members], None]]:
        if number in self.repairs.trimmed:
            yield with_duration(self.repairs.trimmed[number])
        if number in self.repairs.moved:
            yield beside(self.repairs.moved[number])
        if self.apart is not None:
            yield self.apart


def write(target: Path, header: Mapping[str, Any], texts: Iterable[bytes]) -> int:
    """Write a trace file of members and events; returns how many events. Gzipped where the name ends in .gz.

    Raises:
        OSError: the file cannot be written; then none is left, nor after any other error.
    """
    staged = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with staged.open("wb") as raw:
            packed = gzip.GzipFile("", "wb", 6, raw, mtime=0) if target.suffix == ".gz" else nullcontext(raw)
            with packed as file:
                events = _write(file, header, texts)
        staged.replace(target)
    except BaseException:
        staged.unlink(missing_ok=True)
        raise
    return events


def _write(file: BinaryIO | gzip.GzipFile, header: Mapping[str, Any], texts: Iterable[bytes]) -> int:
    """The members beside the events, then the events, one a line; how many."""
    members = {key: value for key, value in header.items() if key != "traceEvents"}
    head = msgspec.json.encode(members)[:-1]
    file.write(head + (b"," if members else b"") + b'"traceEvents":[\n')
    count = 0
    for text in texts:
        file.write(b",\n" + text if count else text)
        count += 1
    file.write(b"\n]}\n")
    return count
