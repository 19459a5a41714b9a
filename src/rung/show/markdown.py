"""Pieces of Markdown that hold whatever a name holds."""

from __future__ import annotations

import re
from collections.abc import Sequence

_OURS = re.compile(r"[\\|*_`\[\]]")


def escaped(text: str) -> str:
    """On one line, with nothing that Markdown or HTML would take for its own; `**no**` is ours."""
    if text == "**no**":
        return text
    for old, new in (("&", "&amp;"), ("<", "&lt;")):
        text = text.replace(old, new)
    text = _OURS.sub(r"\\\g<0>", text)
    return " ".join(text.split())


def table_row(cells: Sequence[str]) -> str:
    """A line of a table, of cells that are Markdown already."""
    return f"| {' | '.join(cells)} |\n"
