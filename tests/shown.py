"""What the command line would print of a renderable."""

from __future__ import annotations

from io import StringIO

from rich.console import RenderableType

from rung.cli.console import PlainConsole


def shown(part: RenderableType, width: int = 120, *, colour: bool = False) -> str:
    """As text, the blanks at the ends of lines left out."""
    page = StringIO()
    console = PlainConsole(
        file=page,
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
        force_terminal=colour,
        color_system="standard" if colour else None,
    )
    console.print(part)
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines())
