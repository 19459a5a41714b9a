"""What a function that takes traces was given."""

from __future__ import annotations

import os

from rung.errors import UsageError
from rung.trace.model import Trace


def check_traces(function: str, *given: object) -> None:
    """Points whoever gave a path, or anything else that is no trace, to `rung.read`.

    Raises:
        UsageError: one of them is no trace.
    """
    for one in given:
        if isinstance(one, str | os.PathLike):
            path = os.fspath(one)
            raise UsageError(f"{function} takes a trace, not a path: rung.read({path!r}) gives one")
        if not isinstance(one, Trace):
            kind = type(one).__name__
            raise UsageError(
                f"{function} takes a trace, not something of type {kind}: rung.read(path) gives one"
            )
