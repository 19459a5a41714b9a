"""Linked traces on disk, so that a big file is decoded once.

An entry is a `.npz` file under `RUNG_CACHE_DIR` (default `~/.cache/rung`) in `traces/`. Its name is made of
the trace's content, of how it was read, and of the reader's own source, so nothing in it can be out of date.
`RUNG_NO_CACHE=1` turns the cache off; the folder can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

from rung.home import cache_folder, cache_is_off
from rung.trace.model import Trace
from rung.trace.packed import PackedArgs
from rung.trace.stored import args_from_arrays, from_arrays, to_arrays

FEW = 50_000
"""Events below which a trace is not kept: it is read again in a tenth of a second."""

LARGEST_BYTES = 4 << 30
"""Of all entries together; beyond it those used longest ago are deleted."""

PART, SHARE = 1 << 20, 1 << 25
"""Bytes of a file that have one checksum, and that a thread sees to. SHA-256 of all would take half of a
cached read; CRC-32 misses a change once in four thousand million times."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a trace is kept, or would be."""

    file: Path
    stacks: bool

    def load(self, path: str) -> Trace | None:
        """The trace as it was stored; None if it was not, or is damaged."""
        try:
            with self.file.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                trace = from_arrays(path, arrays, lambda: self._args(path))
            os.utime(self.file)
        except FileNotFoundError:
            return None
        except Exception:  # whatever a damaged file makes zipfile, numpy or msgspec raise
            with contextlib.suppress(OSError):
                self.file.unlink()
            return None
        return trace

    def _args(self, path: str) -> PackedArgs:
        try:
            with self.file.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return args_from_arrays(arrays)
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):  # deleted meanwhile, or damaged
            from rung.trace.reading import read

            self.file.unlink(missing_ok=True)
            return read(path, cache=False, salvage=True, stacks=self.stacks).span_args()

    def store(self, trace: Trace) -> None:
        """Keep a trace. Writers do not see one another: each writes a file of its own and renames it."""
        if trace.events < FEW:
            return
        with contextlib.suppress(OSError):  # a full or read-only disk: there is no cache then
            self.file.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.file.parent, suffix=".part")
            try:
                with open(handle, "wb") as file:
                    np.savez(file, **to_arrays(trace))  # type: ignore[arg-type]
                os.replace(name, self.file)
            finally:
                Path(name).unlink(missing_ok=True)
            _shrink(self.file.parent)


def entry(path: str, salvage: bool, stacks: bool) -> Entry | None:
    """The entry of a trace file; None where the cache is turned off."""
    if cache_is_off():
        return None
    how = f"{_content(path)} {salvage} {stacks} {_reader()}"
    return Entry(folder() / f"{hashlib.sha256(how.encode()).hexdigest()[:40]}.npz", stacks)


def folder() -> Path:
    """Where entries lie."""
    return cache_folder("traces")


def _content(path: str) -> str:
    """A hash of a file's size and of the checksums of its parts, computed by several threads."""
    size = os.path.getsize(path)
    shares = range(0, size, SHARE)
    with ThreadPoolExecutor(min(os.cpu_count() or 1, 8)) as threads:
        checksums = b"".join(threads.map(partial(_checksums, path), shares))
    return f"{size} {hashlib.sha256(checksums).hexdigest()}"


def _checksums(path: str, start: int) -> bytes:
    """The CRC-32 of each part of a file's share."""
    buffer = bytearray(PART)
    found = []
    with open(path, "rb", buffering=0) as file:
        file.seek(start)
        for _ in range(SHARE // PART):
            length = file.readinto(buffer)
            found.append(zlib.crc32(memoryview(buffer)[:length]))
    return b"".join(one.to_bytes(4, "big") for one in found)


@cache
def _reader() -> str:
    """A hash of the source of everything that decides what is in a trace."""
    here = Path(__file__).parent
    files = sorted([*here.rglob("*.py"), *(here.parent / "names").rglob("*.py")])
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def _shrink(entries: Path) -> None:
    kept = 0
    by_age = sorted(((file.stat(), file) for file in entries.glob("*.npz")), key=lambda one: -one[0].st_mtime)
    for stat, file in by_age:
        kept += stat.st_size
        if kept > LARGEST_BYTES:
            file.unlink(missing_ok=True)
