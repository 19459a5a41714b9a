"""What `rung convert` says of what it wrote."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from rung import units
from rung.show.plain import plain
from rung.trace.export import Exported


def lines(made: Exported) -> Iterator[Text]:
    """The file, then what was done to its events, a line each."""
    yield plain(f"{made.path}   {units.count(made.events, 'event')}")
    for count, said in (
        (made.left_out, "outside the stretch, left out"),
        (made.repaired, "damaged and mended"),
        (made.skipped, "damaged beyond repair, left out"),
        (made.trimmed, "that outlasted the slice around them, cut to its end"),
        (made.moved, "that overlapped another on their stream, moved to a track beside it"),
    ):
        if count:
            yield plain(f"  {units.count(count, 'event')} {said}")
