"""What the verbs share: a console for data, a sign of life for work that takes long."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

PATIENCE_S = 1.0
WIDE = 100_000
"""Columns for output that goes to a file or a pipe, where nothing wraps, unless COLUMNS says how wide."""


def stdout() -> Console:
    """The console for data: as wide as the terminal; colour only there, and not under NO_COLOR.

    Names are text to it, not markup.
    """
    from rung.cli.console import PlainConsole

    asked = os.environ.get("COLUMNS", "")
    if not asked.isdecimal() or not int(asked):  # 0 is what some say who do not know
        asked = str(get_terminal_size().columns if sys.stdout.isatty() else WIDE)
    return PlainConsole(width=int(asked), highlight=False, markup=False, emoji=False)


def stderr() -> Console:
    """The console for commentary: names are text to it, not markup."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def print_json(value: dict[str, Any]) -> None:
    """A result as JSON on stdout. A byte of a file's name that is no UTF-8 becomes U+FFFD."""
    import typer

    from rung.show.as_json import encode

    try:
        text = encode(value)
    except UnicodeEncodeError:
        text = encode(_encodable(value))
    typer.echo(text)


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return re.sub("[\ud800-\udfff]", "\ufffd", value)
    if isinstance(value, dict):
        return {_encodable(key): _encodable(inner) for key, inner in value.items()}
    return [_encodable(inner) for inner in value] if isinstance(value, list | tuple) else value


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all.

    Raises:
        UsageError: it cannot be written there.
    """
    raw = content.encode("utf-8", "replace") if isinstance(content, str) else content
    part = path.with_name(f".{path.name}.{os.getpid()}")
    with writing(path):
        try:
            part.write_bytes(raw)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """What goes wrong with a file of the user's choice is the user's to mend.

    Raises:
        UsageError: it cannot be written there.
    """
    from rung.errors import UsageError

    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}; write it elsewhere.") from error


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show a spinner on stderr once the work has taken a second; nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    from rung.show.plain import plain

    status = Console(stderr=True).status(plain(what))
    timer = threading.Timer(PATIENCE_S, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        status.stop()
