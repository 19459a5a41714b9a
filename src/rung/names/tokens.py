"""Names made of words: a word that none of a family's rules knows stays as it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

Rule = tuple[str, Callable[[re.Match[str]], dict[str, Any]]]
"""A pattern that must match a whole word, and the fields it then gives."""

INSTRUCTIONS = {
    "884": [8, 8, 4],
    "1684": [16, 8, 4],
    "1688": [16, 8, 8],
    "8816": [8, 8, 16],
    "8832": [8, 8, 32],
    "16816": [16, 8, 16],
    "16832": [16, 8, 32],
    "16864": [16, 8, 64],
    "161616": [16, 16, 16],
    "32816": [32, 8, 16],
    "83216": [8, 32, 16],
    "88128": [8, 8, 128],
    "168256": [16, 8, 256],
}
"""Matrix instructions by the digits that write them without separators: only shapes the hardware has."""


def dims(text: str) -> list[int]:
    """`"256x128"` -> `[256, 128]`."""
    return [int(number) for number in text.split("x")]


def sort_out(words: Iterable[str], rules: Iterable[Rule]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Split words into the fields the rules know and the words they do not, in order."""
    rules = tuple(rules)
    fields: dict[str, Any] = {}
    unknown: list[str] = []
    for word in words:
        for pattern, fields_of in rules:
            match = re.fullmatch(pattern, word)
            if match:
                fields |= fields_of(match)
                break
        else:
            if word:
                unknown.append(word)
    return fields, tuple(unknown)
