"""Text from a trace as it can be shown: what a trace holds neither steers the terminal nor forges a line."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

_PICTURES = {code: 0x2400 + code for code in range(32)} | {127: 0x2421}
"""Control characters, each to its picture: ESC to ␛."""

_TURNS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""What changes the direction of the text that follows, and so shows a name as another."""

_BREAKS = (0x2028, 0x2029)
"""Line and paragraph separator."""

_SEEN: dict[int, int | str] = {
    **_PICTURES,
    **dict.fromkeys(range(128, 160), 0xFFFD),
    **{code: f"\\u{code:04x}" for code in (*_TURNS, *_BREAKS)},
}
_SEEN_BUT_LINES = {code: shown for code, shown in _SEEN.items() if code != ord("\n")}

T = TypeVar("T")


def printable(text: str) -> str:
    """Text on one line, with its control characters and line breaks made visible."""
    return text.translate(_SEEN)


def shortened(text: str, most: int) -> str:
    """`printable`, of so many letters; of a longer text its beginning, and how much more there is."""
    more = len(text) - most
    return printable(text) if more <= 0 else f"{printable(text[:most])}\u2026 ({more:,} more letters)"


def printable_lines(text: str) -> str:
    """As `printable`, but of lines that are ours."""
    return text.translate(_SEEN_BUT_LINES)


def visible(value: T) -> T:
    """A result, made of frozen dataclasses, lists and tuples, with each text in it `printable`."""
    return _visible(value)  # type: ignore[no-any-return]


def _visible(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list | tuple):
        return type(value)(map(_visible, value))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: _visible(getattr(value, field.name)) for field in fields(value)})
    return value
