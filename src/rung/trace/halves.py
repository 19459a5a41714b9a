"""A big plain file decoded by two processes, a half each.

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
from dataclasses import replace

import msgspec
from msgspec import Raw

from rung.trace.collecting import no_collections
from rung.trace.gather import EventTable, gathered
from rung.trace.pieces import CUT, FIRST, PIECE
from rung.trace.source import GZIP_MAGIC
from rung.trace.stream import Stream

LARGE = 1 << 27
"""Bytes of a file from which on a second process pays."""

HEAD_START = 1 << 26
"""Bytes that are decoded while a process starts, in 0.2 s."""

Decoded = tuple[EventTable, dict[str, Raw]]
"""The events of a file and its header."""


def halves(stream: Stream) -> tuple[Stream, Stream] | None:
    """The parts of a file; None where it is small or deflated, no cut shows or there is but one processor."""
    size = os.path.getsize(stream.path)
    if size < LARGE or _processors() < 2 or not sys.executable:
        return None
    middle = (size + HEAD_START) // 2
    with open(stream.path, "rb") as file:
        head = file.read(PIECE)
        file.seek(middle)
        cut = CUT.search(file.read(PIECE))
    if cut is None or head.startswith(GZIP_MAGIC):
        return None
    comma = middle + cut.start() + 1
    opening, closing = (b"[", b"]") if head.lstrip()[:1] == b"[" else (FIRST, b"]}")
    return replace(stream, stop=comma, behind=closing), Stream(stream.path, start=comma + 1, before=opening)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def decode_halves(first: Stream, second: Stream, stacks: bool) -> Decoded:
    """Decode the first part here and the second beside it.

    Raises:
        msgspec.DecodeError: they are not the two halves of a sound trace, or the other process got lost.
    """
    with _beside(second, stacks) as others:
        events, pieces = gathered(first, stacks)
        if pieces.behind:
            raise msgspec.DecodeError("the cut lies behind the list of events")
        more, header = others()
    return events.followed_by(more), pieces.header | header


@contextmanager
def _beside(part: Stream, stacks: bool) -> Iterator[Callable[[], Decoded]]:
    """Start decoding in a process of its own; gives what waits for it. Its result comes in a file: no pipe is
    drained meanwhile, which would take the interpreter from the decoding here."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from rung.trace.halves import serve; serve()"
    arguments = [part.path, str(part.start), part.before.decode(), str(int(stacks))]
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
    path, start, before, stacks = sys.argv[1:]
    with no_collections():
        events, pieces = gathered(Stream(path, start=int(start), before=before.encode()), bool(int(stacks)))
        pickle.dump((events, pieces.header), sys.stdout.buffer, protocol=5)
    sys.stdout.flush()
    os._exit(0)  # nothing is left to be freed one by one
