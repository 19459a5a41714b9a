"""A Hugging Face bucket, by way of `huggingface_hub`.

Content goes up first, under its hash, and gets its name when it is there: a file is whole or not there. What
was uploaded before a failure is not sent again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from rung.errors import MachineError, UsageError
from rung.stores.fetching import Progress
from rung.stores.libraries import client
from rung.stores.place import Item, Known, Link
from rung.stores.trouble import said

MOST_FILES, MOST_BYTES = 50, 1 << 28
"""Of files that get their names together."""

LONG = 8_000_000
"""Bytes from which on an upload is worth a bar for each file."""


@dataclass(slots=True)
class Bucket:
    """`hf://buckets/NAMESPACE/NAME`, or a folder in it. A new one is private if `private` says so."""

    api: Any
    id: str
    prefix: str
    private: bool
    draws: bool = True

    @classmethod
    def at(cls, url: str, private: bool) -> Bucket:
        """Of an address.

        Raises:
            UsageError: the address names no bucket.
            MachineError: `huggingface_hub` is not installed.
        """
        kind, _, rest = url.partition("://")[2].strip("/").partition("/")
        parts = rest.split("/", 2)
        if kind != "buckets" or len(parts) < 2 or not all(parts):
            raise UsageError(f"{url} names no bucket; one is hf://buckets/NAMESPACE/NAME.")
        return cls(_api(), f"{parts[0]}/{parts[1]}", parts[2] if len(parts) > 2 else "", private)

    @classmethod
    def named(cls, name: str, namespace: str | None, private: bool) -> Bucket:
        """Of a name; without a namespace your own.

        Raises:
            UsageError: the namespace is named twice.
            MachineError: `huggingface_hub` is not installed, or you are not logged in.
        """
        if "/" in name and namespace is not None:
            raise UsageError(f"{name} names a namespace already: leave --namespace out.")
        if "/" not in name and namespace is None:
            with _told("the Hub"):
                namespace = _api().whoami()["name"]
        return cls.at(f"hf://buckets/{name if namespace is None else f'{namespace}/{name}'}", private)

    @property
    def url(self) -> str:
        return f"hf://buckets/{self.id}" + (f"/{self.prefix}" if self.prefix else "")

    @property
    def visible(self) -> str:
        return "you and who you let in" if self.private else "everyone"

    def exists(self) -> bool:
        """Whether there is such a bucket; asks it too whether it is private.

        Raises:
            UsageError: a private one is wanted, and it is public.
            MachineError: the Hub cannot be reached, or says no.
        """
        from huggingface_hub.errors import BucketNotFoundError

        with _told(self.url):
            try:
                private = self.api.bucket_info(self.id).private
            except BucketNotFoundError:
                return False
        if self.private and not private:
            raise UsageError(f"{self.url} is there, and public: take another name, or leave --private out.")
        self.private = private
        return True

    def create(self) -> None:
        with _told(self.url):
            self.api.create_bucket(self.id, visibility="private" if self.private else "public")

    def there(self) -> dict[str, Known]:
        inside = f"{self.prefix}/" if self.prefix else ""
        with _told(self.url):
            return {
                one.path.removeprefix(inside): Known(one.size, one.mtime.timestamp() if one.mtime else None)
                for one in self.api.list_bucket_tree(self.id, self.prefix or None, recursive=True)
                if one.type == "file" and one.path.startswith(inside)
            }

    def put(self, items: Sequence[Item], progress: Progress | None = None) -> None:
        """Upload the files. At a terminal the client draws bars of its own for what takes a while.

        Raises:
            MachineError: the Hub says no, or the connection broke; what was uploaded before stays.
        """
        long = sum(item.nbytes for item in items) >= LONG and sys.stderr.isatty()
        with _told(f"{self.url}: uploading", " Run it again to go on."), _bars(long):
            for batch in _batches(items):
                self.api.batch_bucket_files(self.id, add=[(i.local, self._path(i.name)) for i in batch])

    def delete(self, names: Sequence[str]) -> None:
        with _told(f"{self.url}: deleting"):
            self.api.batch_bucket_files(self.id, delete=[self._path(name) for name in names])

    def link(self, name: str) -> Link:
        url = f"{self.api.endpoint}/buckets/{self.id}/resolve/{quote(self._path(name))}"
        return Link(url, not self.private, "private: Perfetto cannot fetch it" if self.private else "")

    def _path(self, name: str) -> str:
        return f"{self.prefix}/{name}" if self.prefix else name


def _api() -> Any:
    return client("hf").HfApi(library_name="rung")


def _batches(items: Sequence[Item]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    for item in items:
        if len(batch) == MOST_FILES or sum(one.nbytes for one in batch) > MOST_BYTES:
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


@contextmanager
def _told(what: str, more: str = "") -> Iterator[None]:
    """Whatever the client raises as one line, without anything secret."""
    try:
        yield
    except Exception as error:
        raise MachineError(f"{what}: {said(error)}.{more}") from None


@contextmanager
def _bars(wanted: bool) -> Iterator[None]:
    from huggingface_hub.utils import disable_progress_bars, enable_progress_bars

    (enable_progress_bars if wanted else disable_progress_bars)()
    try:
        yield
    finally:
        sys.stderr.flush()  # what follows on stdout follows them
