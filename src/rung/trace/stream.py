"""A big trace file in blocks, read and inflated beside the decoding: it never lies in memory whole."""

from __future__ import annotations

import os
import threading
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import Full, Queue

import msgspec

from rung.stores import is_remote, near, shown
from rung.trace.pieces import PIECE
from rung.trace.source import GZIP_MAGIC, GZIP_WINDOW, Source, load

BIG = 1 << 18
"""Bytes of a file from which on it is streamed."""

BLOCK = 1 << 22
"""Bytes that the thread hands over at a time: each handing over may wait 5 ms for the interpreter."""

READ = 1 << 19
"""Bytes read of a deflated file at a time; they may inflate to a thousand times as many."""

Progress = Callable[[int, int], None]
"""Told how many bytes of how many of a file have been read."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A regular file, opened anew for each way through it. `near` is where it lies if it is remote."""

    path: str
    progress: Progress | None = None
    near: str = ""

    @property
    def file(self) -> str:
        return self.near or self.path

    def blocks(self) -> Iterator[bytes]:
        """The inflated text in blocks of at most `PIECE` bytes, the next ones made ready by a thread.

        Raises:
            msgspec.DecodeError: the file is damaged gzip.
        """
        _, texts = self.text()
        return ahead(texts)

    def whole(self) -> Source:
        return load(self.path, self.file)

    def text(self, start: int = 0) -> tuple[int, Iterator[bytes]]:
        """The inflated text from a byte on, and that byte: 0 always where the file is deflated."""
        start = 0 if self.is_deflated() else start
        return start, self._text(start)

    def _text(self, start: int) -> Iterator[bytes]:
        total = os.path.getsize(self.file)
        with Path(self.file).open("rb") as file:
            file.seek(start)
            plain = iter(lambda: file.read(BLOCK), b"")
            for text in _inflated(file.read) if self.is_deflated() else plain:
                if self.progress:
                    self.progress(file.tell(), total)
                yield text

    def is_deflated(self) -> bool:
        with Path(self.file).open("rb") as file:
            return file.read(2) == GZIP_MAGIC

    def size(self) -> int:
        """Bytes of the text. A gzip file keeps them in its last four: of one member, up to 4 GiB."""
        if not self.is_deflated():
            return os.path.getsize(self.file)
        with Path(self.file).open("rb") as file:
            file.seek(-4, os.SEEK_END)
            return int.from_bytes(file.read(4), "little")


def open_source(
    path: str | os.PathLike[str], progress: Progress | None = None, *, anew: bool = False
) -> Source | Stream:
    """The source of a trace: streamed if it is a big regular file, else read whole. One at an address is
    brought here first, if it is not here yet or is wanted `anew`.

    Raises:
        UnreadableTraceError: as `load` and `near` do.
        UsageError, MachineError: as `near` does.
    """
    name = os.fspath(path)
    file = str(near(name, progress, anew=anew)) if is_remote(name) else name
    name = shown(name)
    if file != "-" and os.path.isfile(file) and os.path.getsize(file) >= BIG and _begins_well(file):
        return Stream(name, progress, near=file if file != name else "")
    return load(name, file)


def _begins_well(name: str) -> bool:
    """Whether a file starts as a trace does; one that does not is left to `load` and its errors."""
    try:
        with Path(name).open("rb") as file:
            first = file.read(2)
    except OSError:
        return False
    return first == GZIP_MAGIC or first[:1] in (b"{", b"[")


def _inflated(read: Callable[[int], bytes]) -> Iterator[bytes]:
    """The text of a (possibly multi-member) gzip stream."""
    member = zlib.decompressobj(GZIP_WINDOW)
    raw, most = b"", PIECE  # the first block is small, for those who want the header alone
    try:
        while raw := raw or read(READ):
            if member.eof:
                if not (raw := raw + read(READ)).startswith(GZIP_MAGIC):
                    break
                member = zlib.decompressobj(GZIP_WINDOW)
            yield member.decompress(raw, most)
            raw, most = member.unconsumed_tail or member.unused_data, BLOCK
    except zlib.error as error:
        raise msgspec.DecodeError(f"damaged gzip: {error}") from None
    if not member.eof:
        raise msgspec.DecodeError("the gzip stream is cut short")


def ahead(texts: Iterator[bytes], depth: int = 2) -> Iterator[bytes]:
    """A text in blocks, made by a thread of its own: zlib and file reads leave the interpreter free."""
    made: Queue[bytes | BaseException | None] = Queue(depth)
    stopped = threading.Event()

    def put(item: bytes | BaseException | None) -> None:
        while not stopped.is_set():
            try:
                made.put(item, timeout=0.1)
            except Full:
                continue
            return

    def work() -> None:
        try:
            for text in texts:
                put(text)
                if stopped.is_set():
                    return
            put(None)
        except BaseException as error:  # whatever it is, it is the reader's
            put(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while (item := made.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            for start in range(0, len(item), PIECE):
                yield item[start : start + PIECE]
    finally:
        stopped.set()
