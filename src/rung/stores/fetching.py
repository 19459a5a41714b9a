"""`near`: a file far away, brought here in blocks; it never lies in memory whole."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from rung import units
from rung.errors import RungError, UnreadableTraceError
from rung.stores.address import scheme, shown
from rung.stores.trouble import said

LARGEST = 8_000_000_000
"""Bytes that are fetched at most."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Far:
    """A file at an address. `nbytes` is None where the server does not say; `blocks` are its bytes, once."""

    nbytes: int | None
    blocks: Iterator[bytes]


_fetched: dict[str, Path] = {}


def near(url: str, progress: Progress | None = None, *, anew: bool = False) -> Path:
    """The file as one here; what was fetched before is not fetched again, unless `anew`. It is deleted when
    the process ends.

    `progress(done, total)` is first told of 0 bytes done; of 0 in all where the server does not say.

    Raises:
        UnreadableTraceError: it is not there, not open to us, larger than 8 GB, or the connection broke.
        UsageError: it is no address that Rung knows.
        MachineError: the library for such addresses is not installed.
    """
    if scheme(url) == "file":
        return Path(url2pathname(urlsplit(url).path))
    if anew or url not in _fetched:
        found, before = _fetch(url, progress), _fetched.get(url)
        _fetched[url] = _fetched[shown(url)] = found
        if before is not None:
            before.unlink(missing_ok=True)
    return _fetched[url]


def _fetch(url: str, progress: Progress | None) -> Path:
    try:
        far = _opened(url)
        if progress:
            progress(0, far.nbytes or 0)
        _check_size(url, far.nbytes or 0)
        return _written(url, far, progress)
    except RungError:
        raise
    except FileNotFoundError:
        raise UnreadableTraceError(f"{shown(url)} does not exist.") from None
    except Exception as error:  # each client has its own kinds
        raise UnreadableTraceError(f"{shown(url)} cannot be read: {said(error)}.") from None


def _opened(url: str) -> Far:
    if scheme(url) in ("https", "http"):
        from rung.stores.web import open_web

        return open_web(url)
    from rung.stores.objects import open_object

    return open_object(url)


def _written(url: str, far: Far, progress: Progress | None) -> Path:
    """A file of its own. What is not whole is not kept.

    The name is made here: one from afar could lead out of the folder.
    """
    handle, name = tempfile.mkstemp(dir=_folder())
    os.close(handle)
    target = Path(name)
    done = 0
    try:
        with target.open("wb") as file:
            for block in far.blocks:
                file.write(block)
                done += len(block)
                _check_size(url, done)
                if progress:
                    progress(done, max(far.nbytes or 0, done + 1))
        if far.nbytes is not None and done != far.nbytes:
            raise UnreadableTraceError(
                f"{shown(url)} broke off after {units.size(done)} of {units.size(far.nbytes)}: try again."
            )
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return target


def _check_size(url: str, nbytes: int) -> None:
    if nbytes > LARGEST:
        raise UnreadableTraceError(
            f"{shown(url)} has {units.size(nbytes)}; Rung fetches at most {units.size(LARGEST)}: "
            "fetch it yourself, then name the file."
        )


@cache
def _folder() -> str:
    folder = tempfile.mkdtemp(prefix="rung-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
