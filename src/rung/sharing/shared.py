"""What was shared: an address a trace, and a link that opens it."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from rung.stores.place import Item, Store

PERFETTO = "https://ui.perfetto.dev/#!/?url="


@dataclass(frozen=True, slots=True)
class Shared:
    """A trace, or its page, at a store. `perfetto` is None where Perfetto could not fetch it, and `note` says
    why; `days` is how long the address works, None for good; `sent` whether it went up just now."""

    name: str
    nbytes: int
    url: str | None
    perfetto: str | None
    page: str | None
    days: int | None
    note: str
    sent: bool


def shared(store: Store, item: Item, page: str | None, *, sent: bool) -> Shared:
    """The links to a trace that lies at the store; `page` is its page's name there."""
    link = store.link(item.name)
    blocked = _blocked(link.url)
    return Shared(
        item.name,
        item.nbytes,
        link.url,
        PERFETTO + quote(link.url, safe="") if link.url and link.is_open and not blocked else None,
        store.link(page).url if page else None,
        link.days,
        blocked or link.note,
        sent,
    )


def _blocked(url: str | None) -> str:
    """Perfetto's page comes by https, and browsers then fetch nothing by http but from this machine."""
    if url and urlsplit(url).scheme == "http" and urlsplit(url).hostname not in ("127.0.0.1", "localhost"):
        return "http: Perfetto's page fetches by https alone"
    return ""
