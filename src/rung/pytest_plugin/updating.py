"""Guess files brought up to date by several pytest workers at once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rung.errors import RungError
from rung.insight.guessing.update import update
from rung.trace import Trace

PATIENCE_S = 30.0


def update_locked(path: Path, trace: Trace, level: str) -> list[str]:
    """`update`, one process at a time. Raises RungError where a lock stays for half a minute."""
    with _locked(path.with_name(f"{path.name}.lock")):
        return update(path, trace, level=level)


@contextmanager
def _locked(lock: Path) -> Iterator[None]:
    """A folder as a lock: making one either works or fails, on every system."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            lock.mkdir()
            break
        except FileExistsError:
            if time.monotonic() > deadline:
                raise RungError(
                    f"{lock} is there for {PATIENCE_S:.0f} s: remove it if no pytest runs"
                ) from None
            time.sleep(0.02)
    try:
        yield
    finally:
        lock.rmdir()
