"""Where files can be put: what every store does, and the plain values it deals in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rung.stores.fetching import Progress


@dataclass(frozen=True, slots=True)
class Item:
    """A file here and its name there; `modified` in seconds of the epoch."""

    local: Path
    name: str
    nbytes: int
    modified: float


@dataclass(frozen=True, slots=True)
class Known:
    """A file there. `modified` is None where the store does not say."""

    nbytes: int
    modified: float | None


@dataclass(frozen=True, slots=True)
class Link:
    """An address for a browser, None where there is none; whether strangers, such as a viewer's page, can
    fetch it; what is to be said of it; and for how many days it works, None for good."""

    url: str | None
    is_open: bool
    note: str = ""
    days: int | None = None


class Store(Protocol):
    """A place under one address. `visible`: who can see a file in it, in words; `draws`: whether its client
    draws bars of its own while it uploads."""

    @property
    def url(self) -> str: ...
    @property
    def visible(self) -> str: ...
    @property
    def draws(self) -> bool: ...

    def exists(self) -> bool: ...
    def create(self) -> None: ...
    def there(self) -> dict[str, Known]:
        """What lies under the address, by name."""

    def put(self, items: Sequence[Item], progress: Progress | None = None) -> None: ...
    def delete(self, names: Sequence[str]) -> None: ...
    def link(self, name: str) -> Link: ...
