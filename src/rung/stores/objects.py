"""Object stores by way of fsspec: files under keys, each there whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rung import units
from rung.errors import MachineError, UsageError
from rung.stores.address import scheme
from rung.stores.fetching import Far, Progress
from rung.stores.libraries import client
from rung.stores.place import Item, Known, Link
from rung.stores.trouble import said

BLOCK = 1 << 20
DAY_S = 86_400
SIGNING = {"config_kwargs": {"signature_version": "s3v4"}}
"""The client's default for links is version 2, which buckets made after June 2020 refuse."""

CORS = "Perfetto fetches it if the bucket allows https://ui.perfetto.dev (CORS)"

PUBLIC = {"gs": "https://storage.googleapis.com/", "gcs": "https://storage.googleapis.com/"}
"""Where an object can be had by everyone, if it is public."""


def open_object(url: str) -> Far:
    """A file on the Hub or in an object store."""
    files, path = _filesystem(url)
    # The Hub's client streams a file that is read once; the others fetch ahead in ranges.
    how = {"block_size": 0, "cache_type": "none"} if scheme(url) == "hf" else {"cache_type": "readahead"}
    nbytes = files.info(path).get("size")

    def blocks() -> Iterator[bytes]:
        with files.open(path, "rb", **how) as file:
            while block := file.read(BLOCK):
                yield block

    return Far(nbytes, blocks())


def _filesystem(url: str) -> tuple[Any, str]:
    kind = scheme(url)
    if kind == "file":
        from fsspec.implementations.local import LocalFileSystem

        files = LocalFileSystem(auto_mkdir=True)
    else:
        client(kind)
        import fsspec

        files = fsspec.filesystem(kind, **(SIGNING if kind == "s3" else {}))
    return files, files._strip_protocol(url)


@dataclass(frozen=True, slots=True)
class Objects:
    """What lies under `url`: `s3://bucket/prefix`, or a folder for `file://`. Links last `days` days."""

    url: str
    days: int
    files: Any
    root: str
    visible: str = "whoever has a link"
    draws: bool = False

    @classmethod
    def at(cls, url: str, days: int) -> Objects:
        """
        Raises:
            MachineError: the store's library is not installed, or it cannot be reached.
            UsageError: it is no address that Rung knows.
        """
        try:
            files, root = _filesystem(url)
        except ImportError:
            raise MachineError("file:// needs fsspec: pip install 'rung[hub]'.") from None
        return cls(url.rstrip("/"), days, files, root.rstrip("/"))

    def exists(self) -> bool:
        """A bucket that is missing is a mistake: buckets of these stores have regions, owners, bills."""
        return True

    def create(self) -> None:
        pass

    def there(self) -> dict[str, Known]:
        """
        Raises:
            UsageError: there is no such bucket.
            MachineError: the store cannot be reached, or says no.
        """
        try:
            self.files.invalidate_cache()
            found = self.files.find(self.root, detail=True)
        except FileNotFoundError:
            raise UsageError(f"{self.url}: there is no such bucket; create it first.") from None
        except Exception as error:  # each client has its own kinds
            raise MachineError(f"{self.url} cannot be listed: {said(error)}.") from None
        return {
            path.removeprefix(f"{self.root}/"): Known(one["size"], _modified(one))
            for path, one in found.items()
        }

    def put(self, items: Sequence[Item], progress: Progress | None = None) -> None:
        """Upload the files in turn. An object appears when it is whole, a file gets its name then.

        Raises:
            MachineError: the store says no, or the connection broke; what was uploaded before stays.
        """
        from fsspec.callbacks import Callback

        total, before = sum(item.nbytes for item in items), 0
        for item in items:

            def moved(_size: int | None, done: int, before: int = before, **_: object) -> None:
                if progress:
                    progress(before + done, total)

            self._put(item, Callback(hooks={"progress": moved}))
            before += item.nbytes
            if progress:
                progress(before, total)

    def _put(self, item: Item, callback: Any) -> None:
        target = f"{self.root}/{item.name}"
        part = f"{target}.part" if scheme(self.url) == "file" else target
        try:
            self.files.put_file(str(item.local), part, callback=callback)
            if part != target:
                Path(part).replace(target)
        except Exception as error:
            if part != target:
                with suppress(OSError):
                    Path(part).unlink()
            raise MachineError(
                f"{item.name} was not uploaded to {self.url}: {said(error)}. What came before it is there; "
                "run it again to go on."
            ) from None

    def delete(self, names: Sequence[str]) -> None:
        """
        Raises:
            MachineError: the store says no.
        """
        try:
            self.files.rm([f"{self.root}/{name}" for name in names])
        except Exception as error:
            raise MachineError(f"{self.url}: cannot delete there: {said(error)}.") from None

    def link(self, name: str) -> Link:
        """A signed address where the store can sign, else the one it has if it is public."""
        path, kind = f"{self.root}/{name}", scheme(self.url)
        if kind == "file":
            return Link(Path(path).as_uri(), False, "a file: rung show --perfetto opens it")
        with suppress(Exception):  # no key to sign with, or a store that cannot
            signed = self.files.sign(path, expiration=self.days * DAY_S)
            return Link(signed, True, f"signed for {units.count(self.days, 'day')}; {CORS}", self.days)
        if kind in PUBLIC:
            return Link(PUBLIC[kind] + quote(path), True, f"not signed: works if it is public; {CORS}")
        return Link(None, False, "the store signs no link here")


def _modified(info: dict[str, Any]) -> float | None:
    """Seconds of the epoch; each store has its own name for it."""
    found = next(
        (info[key] for key in ("LastModified", "last_modified", "updated", "mtime") if key in info), None
    )
    if isinstance(found, str):
        found = datetime.fromisoformat(found)
    return found.timestamp() if isinstance(found, datetime) else found
