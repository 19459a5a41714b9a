"""Text from a trace for Rich."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rung.visible import printable as printable
from rung.visible import printable_lines as printable_lines
from rung.visible import visible as visible

if TYPE_CHECKING:
    from rich.text import Text

EMULATED = "emulated, its times are those of Triton's interpreter"
"""What a reader of a recording under `TRITON_INTERPRET=1` must know."""


def plain(text: str, style: str = "") -> Text:
    """Text for Rich that is no markup, has no control characters and is one line."""
    from rich.text import Text

    return Text(printable(text), style)
