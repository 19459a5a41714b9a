"""Writing a recording: whole files or none, and no folder that holds nothing."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from rung.errors import UsageError


def check_writable(folder: Path) -> None:
    """Raises UsageError, before any work is done, where `folder` could not be made or written to."""
    present = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not present.is_dir():
        raise UsageError(f"cannot write to {folder}: {present} is a file, not a folder; choose another --out")
    if not os.access(present, os.W_OK):
        raise UsageError(f"cannot write to {folder}: no permission in {present}; choose another --out")
    # Permission is no promise: root has it in /proc, and nobody can make a folder there.
    _remove(_make_folders(folder))


@contextmanager
def staged(*targets: Path) -> Iterator[tuple[Path, ...]]:
    """Temporary names beside `targets` (one folder); all of them move into place, or none is left behind."""
    folder = targets[0].parent
    made = _make_folders(folder)
    # The last suffix stays: it says whether a file is compressed.
    temporary = tuple(folder / f".{target.stem}.{os.getpid()}.tmp{target.suffix}" for target in targets)
    try:
        yield temporary
        for source, target in zip(temporary, targets, strict=True):
            os.replace(source, target)
    except BaseException:
        for source in temporary:
            with suppress(OSError):
                source.unlink()
        _remove(made)
        raise


def pack(source: Path, target: Path, metadata: Mapping[str, Any]) -> None:
    """Copies the Chrome trace `source` to `target`, gzipped where that ends in .gz, with `metadata` as its
    first key, "rung". Neither name nor time enters gzip's header: same trace, same bytes.
    """
    with open(source, "rb") as plain, open(target, "wb") as raw:
        head, brace, rest = plain.read(64).partition(b"{")
        out = gzip.GzipFile("", "wb", 6, raw, mtime=0) if target.suffix == ".gz" else nullcontext(raw)
        with out as file:
            file.write(head + brace + b'\n  "rung": ' + json.dumps(metadata).encode() + b"," + rest)
            shutil.copyfileobj(plain, file, 1 << 20)


def _make_folders(folder: Path) -> list[Path]:
    """Makes `folder` and what it lies in; returns those that were not there, outermost first."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    missing.reverse()
    for made, path in enumerate(missing):
        try:
            path.mkdir(exist_ok=True)
        except OSError as error:
            _remove(missing[:made])
            why = error.strerror or error
            raise UsageError(f"cannot write to {folder}: {why}; choose another --out") from error
    return missing


def _remove(made: Sequence[Path]) -> None:
    """The folders, outermost first, that hold nothing."""
    for path in reversed(made):
        with suppress(OSError):
            path.rmdir()
