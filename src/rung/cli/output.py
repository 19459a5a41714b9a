"""What the verbs share: a console for data, a sign of life for work that takes long."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

PATIENCE_S = 1.0
WIDE = 160
"""Columns for output that goes to a file or a pipe, where nothing wraps."""


def stdout() -> Console:
    """The console for data: as wide as the terminal; colour only there, and not under NO_COLOR."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else WIDE, highlight=False, soft_wrap=False)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show a spinner on stderr once the work has taken a second; nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    status = Console(stderr=True).status(what)
    timer = threading.Timer(PATIENCE_S, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        status.stop()
