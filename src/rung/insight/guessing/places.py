"""Where things stand in a TOML file: each key's line and column, and the text of its value.

tomllib tells values but no places. This scans a text that tomllib has accepted, so it may be brief.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

_KEY = re.compile(r'"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*'|[A-Za-z0-9_-]+")
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|' + r"'''.*?'{3,5}|" + r'"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*'", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file; line and column count from 1. `keys` is the way to what stands there."""

    file: str
    line: int
    column: int
    keys: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.file}: line {self.line}, column {self.column}"


@dataclass(frozen=True, slots=True)
class Entry:
    """A table's head or a key with its value. `key`, `start` and `end` are offsets into the text: of the key,
    and of its value (of a head: where its keys begin, and where the head ends)."""

    path: tuple[str, ...]
    is_table: bool
    key: int
    start: int
    end: int


def entries(text: str) -> list[Entry]:
    """The heads and keys of a valid TOML text in order. An inline table is one value."""
    return list(_scan(text))


def place_of(text: str, file: str, path: tuple[str, ...], *, value: bool = False) -> Place:
    """Where a key stands, or its value; for what has no line of its own, the table or key it is part of."""
    best: Entry | None = None
    for entry in entries(text):
        if entry.path == path[: len(entry.path)] and len(entry.path) >= (len(best.path) if best else 1):
            best = entry
    if best is None:
        return Place(file, 1, 1, path)
    offset = best.start if value and best.path == path else best.key
    before = text[:offset]
    return Place(file, before.count("\n") + 1, offset - before.rfind("\n"), path)


def _scan(text: str) -> Iterator[Entry]:
    table: tuple[str, ...] = ()
    offset = _skip(_BLANK, text, 0)
    while offset < len(text):
        if text[offset] == "[":
            first = offset + (2 if text.startswith("[[", offset) else 1)
            first = _skip(_SPACE, text, first)
            table, end = _keys(text, first)
            end = text.index("]", end) + (2 if text.startswith("[[", offset) else 1)
            yield Entry(table, True, offset, first, end)
        else:
            keys, end = _keys(text, offset)
            start = _skip(_SPACE, text, text.index("=", end) + 1)
            end = _value_end(text, start)
            yield Entry(table + keys, False, offset, start, end)
        offset = _skip(_BLANK, text, end)


def _skip(pattern: re.Pattern[str], text: str, offset: int) -> int:
    match = pattern.match(text, offset)
    return match.end() if match else offset


def _keys(text: str, offset: int) -> tuple[tuple[str, ...], int]:
    """A dotted key, and where it ends."""
    keys: list[str] = []
    while match := _KEY.match(text, offset):
        keys.append(next(iter(tomllib.loads(f"{match[0]} = 0"))))
        offset = match.end()
        after = _skip(_SPACE, text, offset)
        if not text.startswith(".", after):
            break
        offset = _skip(_SPACE, text, after + 1)
    return tuple(keys), offset


def _value_end(text: str, offset: int) -> int:
    depth, end = 0, offset
    while offset < len(text):
        letter = text[offset]
        if string := _STRING.match(text, offset):
            offset = end = string.end()
            continue
        if letter == "#" or (letter == "\n" and depth == 0):
            if depth == 0:
                break
            offset = text.find("\n", offset) if letter == "#" else offset + 1
            continue
        depth += (letter in "[{") - (letter in "]}")
        offset += 1
        if not letter.isspace():
            end = offset
    return end
