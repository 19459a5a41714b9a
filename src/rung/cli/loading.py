"""What the verbs that read a trace share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rung.trace import Trace


def load(path: str, *, no_cache: bool = False, salvage: bool = False, no_stacks: bool = False) -> Trace:
    """Read a trace, with a bar on stderr where that takes long."""
    from rung.cli.progress import reading
    from rung.trace import read

    with reading(path) as progress:
        return read(path, cache=not no_cache, salvage=salvage, stacks=not no_stacks, progress=progress)
