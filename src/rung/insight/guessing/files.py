"""`*.guess.toml`: regions, sections for devices, inheritance. Every mistake is named with line and column."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from rung.errors import UsageError
from rung.insight.guessing.devices import DEFAULT, MODELS, Scope, closeness, is_device
from rung.insight.guessing.language import Expectation, expect, split_key
from rung.insight.guessing.places import place_of
from rung.insight.guessing.wants import shown

EXTENDS, DEVICES, BASELINE = "extends", "devices", "baseline"


@dataclass(frozen=True, slots=True)
class Text:
    """A TOML file: where it lies, what is written in it, what that says."""

    path: Path
    text: str
    table: Mapping[str, Any]

    def refuse(self, keys: tuple[str, ...], message: str, *, value: bool = False) -> NoReturn:
        """Raise UsageError for a key of this file, or its value, with line and column."""
        raise UsageError(f"{place_of(self.text, str(self.path), keys, value=value)}: {message}")


Spot = tuple[str | None, str | None, str]
"""A device's section, a region, a key: what a file may say once."""


def read_file(path: Path, region: str | None = None) -> list[Expectation]:
    """The expectations of a guess file and of those it extends; lines outside of regions go to `region`.

    Raises:
        UsageError: a file that cannot be read, is no TOML, or holds what is no expectation.
    """
    found = _collected(path, ())
    if not found:
        raise UsageError(f"{path}: line 1, column 1: expects nothing; write for example kernels = 5")
    sections = {section for section, _, _ in found} - {None}
    lines = []
    for (section, table, key), line in found.items():
        closer = {s for s, t, k in found if (t, k) == (table, key) and closeness(s) > closeness(section)}
        but = sections - {DEFAULT} if section == DEFAULT else closer - {DEFAULT}
        if section is None and DEFAULT in closer:  # [default] speaks for every device without a section
            but = sections
        lines.append(
            replace(line, scope=Scope(section, tuple(sorted(map(str, but)))), region=table or region)
        )
    return list(dict.fromkeys(lines))


def read_toml(path: Path) -> Text:
    """A TOML file. Raises UsageError where it cannot be read or is no TOML."""
    try:
        text = path.read_text(encoding="utf-8")
        return Text(path, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        message, at, place = str(error).rpartition(" (at ")
        if not at:
            raise UsageError(f"{path}: {error}") from error
        if place == "end of document)":
            place = f"line {text.count(chr(10)) + 1}, column {len(text) - text.rfind(chr(10))})"
        raise UsageError(f"{path}: {place.removesuffix(')')}: {message}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _collected(path: Path, above: tuple[Path, ...]) -> dict[Spot, Expectation]:
    """What a file says, after what those it extends say; a later line replaces an earlier one's spot."""
    file = read_toml(path)
    found: dict[Spot, Expectation] = {}
    for name in _names(file, EXTENDS, "a file's name, or a list of them"):
        base = path.parent / name
        if base.resolve() in {p.resolve() for p in (*above, path)}:
            file.refuse((EXTENDS,), f"{name} extends this file in turn", value=True)
        if not base.is_file():
            file.refuse((EXTENDS,), f"there is no file {base}", value=True)
        found |= _collected(base, (*above, path))
    inherited = {section for section, _, _ in found if section} - MODELS
    declared = frozenset(_names(file, DEVICES, "a list of names, such as ['rtx_4090']")) | inherited
    for spot, expectation in _lines(file, declared):
        found.pop(spot, None)
        found[spot] = expectation
    return found


def _names(file: Text, key: str, what: str) -> list[str]:
    given = file.table.get(key, [])
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        file.refuse((key,), f"{key} takes {what}, not {shown(given)}", value=True)
    return names


def _lines(file: Text, declared: frozenset[str]) -> Iterator[tuple[Spot, Expectation]]:
    baseline = _baseline(file, (), None)
    for key, value in file.table.items():
        if key in (EXTENDS, DEVICES, BASELINE):
            continue
        if not isinstance(value, Mapping):
            yield (None, None, key), _expectation(file, (key,), value, baseline)
        elif is_device(key, declared):
            yield from _section(file, key, value, _baseline(file, (key,), baseline))
        else:
            yield from _region(file, (key,), value, baseline)


def _section(
    file: Text, section: str, table: Mapping[str, Any], baseline: str | None
) -> Iterator[tuple[Spot, Expectation]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _region(file, (section, key), value, baseline)
        elif key != BASELINE:
            yield (section, None, key), _expectation(file, (section, key), value, baseline)


def _region(
    file: Text, path: tuple[str, ...], table: Mapping[str, Any], baseline: str | None
) -> Iterator[tuple[Spot, Expectation]]:
    section = path[0] if len(path) == 2 else None
    for key, value in table.items():
        if isinstance(value, Mapping):
            file.refuse(
                (*path, key),
                f"[{'.'.join(path)}]: {shown(key)} is a table; tables of regions do not nest, unless"
                f" {shown(path[0])} is a device: then write devices = ['{path[0]}'] at the top",
            )
        yield (section, path[-1], key), _expectation(file, (*path, key), value, baseline)


def _expectation(file: Text, path: tuple[str, ...], value: object, baseline: str | None) -> Expectation:
    key, where = path[-1], f"[{'.'.join(path[:-1])}] " if path[:-1] else ""
    try:
        split_key(key)
    except UsageError as error:
        file.refuse(path, f"{where}{error}")
    try:
        expectation = expect(key, value)
    except UsageError as error:
        file.refuse(path, f"{where}{error}", value=True)
    return replace(expectation, baseline=baseline, place=place_of(file.text, str(file.path), path))


def _baseline(file: Text, path: Sequence[str], otherwise: str | None) -> str | None:
    """The trace that a section's tolerances are about, relative to the file."""
    table: Any = file.table
    for key in path:
        table = table[key]
    if BASELINE not in table:
        return otherwise
    if not isinstance(name := table[BASELINE], str) or not re.search(r"\S", name):
        file.refuse((*path, BASELINE), f"{BASELINE} takes a trace's path, not {shown(name)}", value=True)
    return str(file.path.parent / name)
