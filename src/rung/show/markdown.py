"""Pieces of Markdown that hold whatever a name holds."""

from __future__ import annotations

from collections.abc import Sequence


def escaped(text: str) -> str:
    """On one line, with nothing that Markdown or HTML would take for its own; `**no**` is ours."""
    if text == "**no**":
        return text
    for old, new in (("&", "&amp;"), ("<", "&lt;"), ("|", "\\|"), ("*", "\\*"), ("_", "\\_"), ("`", "\\`")):
        text = text.replace(old, new)
    return " ".join(text.split())


def table_row(cells: Sequence[str]) -> str:
    """A line of a table, of cells that are Markdown already."""
    return f"| {' | '.join(cells)} |\n"
