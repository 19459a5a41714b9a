"""What the verbs that read a trace share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rung.trace import Trace


def load(path: str, *, no_cache: bool = False, salvage: bool = False, no_stacks: bool = False) -> Trace:
    """Read a trace, with a bar on stderr where that takes long; of one far away the size is said first."""
    from rung.cli.progress import reading
    from rung.stores import is_remote
    from rung.trace import read

    if is_remote(path):
        _fetch(path)
    with reading(path) as progress:
        return read(path, cache=not no_cache, salvage=salvage, stacks=not no_stacks, progress=progress)


def _fetch(url: str) -> None:
    from rung import units
    from rung.cli.output import stderr
    from rung.cli.progress import reading
    from rung.show.plain import plain
    from rung.stores import near, shown

    def told(nbytes: int | None) -> None:
        stderr().print(plain(f"{shown(url)}: {units.size(nbytes) if nbytes is not None else 'size unknown'}"))

    with reading(shown(url)) as progress:
        near(url, progress, told)


def stretch(between: str | None) -> tuple[int, int] | None:
    """`--between 1ms..2.5ms` in ns.

    Raises:
        UsageError: it is no range of times.
    """
    from rung.errors import UsageError
    from rung.insight.guessing.wants import amount

    if between is None:
        return None
    if ".." not in between:
        raise UsageError(f"--between takes a range of times such as 1ms..2.5ms, not {between!r}.")
    first, last = amount("--between", "in", between, "time").bounds
    return int(first), int(last)
