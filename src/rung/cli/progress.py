"""How far something that takes long has come, on stderr."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from rung.cli.output import PATIENCE_S

Progress = Callable[[int, int], None]
"""Told how many bytes of how many are done."""


def reading(path: str) -> AbstractContextManager[Progress | None]:
    """A bar for `rung.trace.read`. Linking follows when all bytes are read."""
    return bar(f"reading {path}", then="linking")


@contextmanager
def bar(what: str, then: str | None = None) -> Iterator[Progress | None]:
    """A bar with the time left, once the work has taken a second; nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    from rung.show.plain import printable

    shown = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    drawn = Progress(*shown, console=Console(stderr=True), transient=True)
    task = drawn.add_task(printable(what), total=None)

    def progress(done: int, total: int) -> None:
        drawn.update(task, completed=done, total=total, description=then if done >= total else None)

    timer = threading.Timer(PATIENCE_S, drawn.start)
    timer.daemon = True
    timer.start()
    try:
        yield progress
    finally:
        timer.cancel()
        drawn.stop()
