"""A big file decoded by two processes, a half each.

Cut between two events, either half is made a document of its own and decoded strictly; both are sound just if
the whole is. The second process is a fresh interpreter, for a fork would not be safe beside other threads.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import msgspec
from msgspec import Raw

from rung.trace.collecting import no_collections
from rung.trace.gather import EventTable, gathered
from rung.trace.pieces import CUT, FIRST, LONGEST
from rung.trace.stream import Progress, Stream, ahead

LARGE = 1 << 27
"""Bytes of text from which on a second process pays."""

HEAD_START = 1 << 26
"""Bytes that are decoded while a process starts, in 0.2 s."""

INFLATING = 1 / 6
"""The share of a deflated file that is decoded while the other process inflates what it passes over."""


@dataclass(slots=True)
class Half:
    """The events of a trace up to a cut, or those from there on, as a document.

    The cut is the first that shows behind `middle`, a byte of the text; `cut` is its byte once it was found.
    """

    stream: Stream
    middle: int
    is_second: bool
    is_list: bool
    """Whether the trace is a bare list of events."""
    cut: int = -1

    def blocks(self) -> Iterator[bytes]:
        """Its text in blocks, as those of a stream.

        Raises:
            msgspec.DecodeError: the file is damaged gzip, or no cut shows.
        """
        return ahead(self._text())

    def _text(self) -> Iterator[bytes]:
        at, texts = self.stream.text(self.middle if self.is_second else 0)
        text = b""
        for text in texts:
            if at + len(text) > self.middle:
                break
            at += len(text)
            if not self.is_second:
                yield text
        while not (found := CUT.search(text, max(self.middle - at, 0))):
            if len(text) > LONGEST or (more := next(texts, None)) is None:
                raise msgspec.DecodeError("no cut shows")
            text += more
        comma = found.start() + 1
        self.cut = at + comma
        if self.is_second:
            yield (b"[" if self.is_list else FIRST) + text[comma + 1 :]
            yield from texts
        else:
            yield text[:comma] + (b"]" if self.is_list else b"]}")


def halves(stream: Stream) -> tuple[Half, Half] | None:
    """The halves of a trace; None where it is small, or there is but one processor."""
    size = stream.size()
    if size < LARGE or _processors() < 2 or not sys.executable:
        return None
    middle = (size + HEAD_START + int(size * INFLATING) * stream.is_deflated()) // 2
    _, texts = Stream(stream.file).text()
    is_list = next(texts, b"").lstrip()[:1] == b"["
    seen = replace(stream, progress=stream.progress and _stretched(stream.progress, size / middle))
    return Half(seen, middle, False, is_list), Half(stream, middle, True, is_list)


def _stretched(progress: Progress, by: float) -> Progress:
    """What the first half reports as if it were the whole."""
    return lambda done, total: progress(min(int(done * by), total), total)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Decoded:
    """The events of a half and the header's members beside them."""

    cut: int
    events: EventTable
    header: dict[str, Raw]


def decode_halves(first: Half, second: Half, stacks: bool) -> tuple[EventTable, dict[str, Raw]]:
    """Decode the first half here and the second beside it.

    Raises:
        msgspec.DecodeError: they are not the two halves of a sound trace, or the other process got lost.
    """
    with _beside(second, stacks) as others:
        events, pieces = gathered(first, stacks)
        if pieces.behind:
            raise msgspec.DecodeError("the cut lies behind the list of events")
        rest = others()
    if rest.cut != first.cut:
        raise msgspec.DecodeError("the file was changed meanwhile")
    return events.followed_by(rest.events), pieces.header | rest.header


def decode_half(half: Half, stacks: bool) -> Decoded:
    """Decode a half by itself.

    Raises:
        msgspec.DecodeError: it is no sound document.
    """
    events, pieces = gathered(half, stacks)
    return Decoded(half.cut, events, pieces.header)


@contextmanager
def _beside(half: Half, stacks: bool) -> Iterator[Callable[[], Decoded]]:
    """Start decoding in a process of its own; gives what waits for it. Its result comes in a file: no pipe is
    drained meanwhile, which would take the interpreter from the decoding here."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from rung.trace.halves import serve; serve()"
    arguments = [half.stream.file, *(str(int(n)) for n in (half.middle, half.is_list, stacks))]
    with tempfile.TemporaryFile() as result:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=result,
            stderr=subprocess.DEVNULL,
        )

        def wait() -> Decoded:
            if process.wait():
                raise msgspec.DecodeError("the second half is damaged, or its process was ended")
            result.seek(0)
            decoded: Decoded = pickle.load(result)
            return decoded

        try:
            yield wait
        finally:
            process.kill()
            process.wait()


def serve() -> None:
    """What the second process does."""
    path, *numbers = sys.argv[1:]
    middle, is_list, stacks = map(int, numbers)
    with no_collections():
        decoded = decode_half(Half(Stream(path), middle, True, bool(is_list)), bool(stacks))
        pickle.dump(decoded, sys.stdout.buffer, protocol=5)
    sys.stdout.flush()
    os._exit(0)  # nothing is left to be freed one by one
