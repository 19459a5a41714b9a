"""What the verbs that read a trace share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rung.cli.progress import Progress
    from rung.trace import Trace


def load(path: str, *, no_cache: bool = False, salvage: bool = False, no_stacks: bool = False) -> Trace:
    """Read a trace, with a bar on stderr where that takes long; of one far away the size is said first."""
    from rung.trace import read

    with telling(path) as progress:
        return read(path, cache=not no_cache, salvage=salvage, stacks=not no_stacks, progress=progress)


@contextmanager
def telling(path: str) -> Iterator[Progress | None]:
    """What `rung.trace.read` wants as its `progress`: draws a bar, and says the size of what is far away."""
    from rung import units
    from rung.cli.output import stderr
    from rung.cli.progress import reading
    from rung.show.plain import plain
    from rung.stores import is_remote, shown

    with reading(shown(path)) as drawn:

        def progress(done: int, total: int) -> None:
            if done == 0:
                stderr().print(plain(f"{shown(path)}: {units.size(total) if total else 'size unknown'}"))
            elif drawn:
                drawn(done, total)

        yield progress if is_remote(path) else drawn


def stretch(between: str | None, **others: object) -> tuple[int, int] | None:
    """`--between 1ms..2.5ms` in ns; `others` are options of which none may be given beside it.

    Raises:
        UsageError: it is no range of times, or one of the others chooses a time as well.
    """
    from rung.errors import UsageError
    from rung.insight.guessing.wants import amount

    if between is None:
        return None
    for name, value in others.items():
        if value is not None:
            raise UsageError(f"--{name} and --between each choose a time: give one of them.")
    if ".." not in between:
        raise UsageError(f"--between takes a range of times such as 1ms..2.5ms, not {between!r}.")
    first, last = amount("--between", "in", between, "time").bounds
    return int(first), int(last)
