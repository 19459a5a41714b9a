"""Text from a trace as it can be shown: what a trace holds must not steer the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

_CONTROLS = {code: 0x2400 + code for code in range(32) if code != ord("\n")}
"""Control characters, each to its picture: ESC to ␛."""
_CONTROLS |= {127: 0x2421, **dict.fromkeys(range(128, 160), 0xFFFD)}


def printable(text: str) -> str:
    """Text with its control characters made visible."""
    return text.translate(_CONTROLS)


def plain(text: str, style: str = "") -> Text:
    """Text for Rich that is no markup and has no control characters."""
    from rich.text import Text

    return Text(printable(text), style)
