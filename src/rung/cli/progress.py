"""How far the reading of a big trace has come, on stderr."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rung.cli.output import PATIENCE_S


@contextmanager
def reading(path: str) -> Iterator[Callable[[int, int], None] | None]:
    """Shows a bar with the time left once reading has taken a second; nothing where stderr is no terminal.

    Gives what `rung.trace.read` wants as its `progress`. Linking follows when all bytes are read.
    """
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
    bar = Progress(*shown, console=Console(stderr=True), transient=True)
    task = bar.add_task(printable(f"reading {path}"), total=None)

    def progress(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total, description="linking" if done >= total else None)

    timer = threading.Timer(PATIENCE_S, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield progress
    finally:
        timer.cancel()
        bar.stop()
