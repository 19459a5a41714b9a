"""What a narrow terminal shows less of, instead of breaking it in the middle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from rung.show.plain import plain

UNLIMITED = 100_000
"""Columns: wider than any table."""

GAP = 2
"""Blanks between two columns."""

WORD = 10
"""Letters below which a column of words is broken in the middle of them."""


class Phrases:
    """Phrases on one line, three spaces apart; where they do not fit the line breaks between two of them."""

    def __init__(self, *pieces: Text) -> None:
        self.pieces = tuple(piece for piece in pieces if piece)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line = Text()
        for piece in self.pieces:
            if line and line.cell_len + 3 + piece.cell_len > options.max_width:
                yield line
                line = Text("  ")
            elif line:
                line.append("   ")
            line.append_text(piece)
        yield line


@dataclass(frozen=True, slots=True)
class Unbroken:
    """A line that is never broken, so that it can be copied. (Printed by itself a Text forgets that.)

    Newlines that its content begins with stand above it.
    """

    content: str
    style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        content = self.content.lstrip("\n")
        line = plain(content, self.style)
        line.no_wrap, line.overflow = True, "ignore"
        yield from [Text()] * (len(self.content) - len(content))
        yield line


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One line, after all tables, about the columns that these had no room for. Tables add to it as they are
    printed."""

    headings: dict[str, None] = field(default_factory=dict)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.headings:
            yield Text()
            yield plain(f"columns left out at this width: {', '.join(self.headings)}", "dim")


@dataclass(frozen=True, slots=True)
class Column:
    heading: str
    cells: Sequence[str]
    right: bool = False
    style: str = ""


@dataclass(frozen=True, slots=True)
class Columns:
    """A bare table of the columns that have something to say; `expendable` ones, named in the order in which
    they go, are left out where it does not fit on one line each, `last` ones where what is left would break
    in the middle of words; `left_out` is told."""

    columns: Sequence[Column]
    styles: Sequence[str | None]
    expendable: Sequence[str] = ()
    last: Sequence[str] = ()
    left_out: LeftOut = field(default_factory=LeftOut)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wide = options.update(width=UNLIMITED)

        def fits(gone: Sequence[str]) -> bool:
            return Measurement.get(console, wide, self._table(self._left(gone))).maximum <= options.max_width

        gone: list[str] = []
        for heading in self.expendable:
            if fits(gone):
                break
            gone.append(heading)
        for heading in tuple(gone):  # a wide one that went later may have left room for a narrow one
            without = [other for other in gone if other != heading]
            gone = without if fits(without) else gone
        for heading in self.last:
            if self._room_for_words(gone, options.max_width) < WORD:
                gone.append(heading)
        told = {column.heading for column in self.columns if any(column.cells)}
        self.left_out.headings.update((heading, None) for heading in gone if heading in told)
        yield self._table(self._left(gone))

    def _room_for_words(self, gone: Sequence[str], width: int) -> float:
        """Letters for each column of words, when those of numbers have theirs."""
        left = self._left(gone)
        numbers = [max(map(cell_len, (c.heading, *c.cells))) for c in left if c.right]
        words = len(left) - len(numbers)
        return (width - sum(numbers) - GAP * (len(left) - 1)) / max(words, 1)

    def _left(self, gone: Sequence[str]) -> list[Column]:
        return [column for column in self.columns if any(column.cells) and column.heading not in gone]

    def _table(self, columns: Sequence[Column]) -> Table:
        made = table(*(c.heading for c in columns), right=[i for i, c in enumerate(columns) if c.right])
        styles = [column.style for column in columns]
        for style, *cells in zip(self.styles, *(c.cells for c in columns), strict=True):
            made.add_row(*map(plain, cells, styles), style=style)
        return made


def table(*headings: str, right: Sequence[int] = ()) -> Table:
    """A bare table: no lines, headings dim, numbers flush right."""
    made = Table(box=None, header_style="dim", pad_edge=False, padding=(0, GAP, 0, 0))
    for i, heading in enumerate(headings):
        made.add_column(plain(heading), justify="right" if i in right else "left", no_wrap=i in right)
    return made


def point(sentence: str) -> Table:
    """A sentence behind a dot, wrapped beside it."""
    made = Table.grid(padding=(0, 1))
    made.add_row("  ·", plain(sentence))
    return made
