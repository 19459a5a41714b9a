"""Bring a guess file up to date with a trace: only the values that no longer hold change, in place."""

from __future__ import annotations

import glob
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from rung.insight.guessing.devices import section_for
from rung.insight.guessing.draft import draft, literal, microseconds, tables, toml_key
from rung.insight.guessing.files import DEVICES
from rung.insight.guessing.language import Expectation
from rung.insight.guessing.measures import Judged
from rung.insight.guessing.places import Place, entries
from rung.insight.guessing.tolerance import Near
from rung.insight.guessing.wants import KINDS, Amount, DtypeWant, Order, cut
from rung.trace import Trace

if TYPE_CHECKING:
    from rung.insight.guess import Guess


@dataclass(frozen=True, slots=True)
class Edit:
    """A file's new text, and a sentence for each thing that changed or could not be."""

    text: str
    said: tuple[str, ...]


def update(path: Path, trace: Trace, *, level: str = "normal", region: str | None = None) -> list[str]:
    """Write or update a guess file so that it holds of this trace; returns what changed, a sentence each.

    A file that is not there is drafted at `level`, as is a section for a device that it has none for.
    Comments, order and every line that holds stay as they are; a line of a file that this one extends is
    overridden here.

    Raises:
        UsageError: the file is no guess file, or the trace is one that no guess judges.
    """
    from rung.insight.guess import load

    if not path.exists():
        text = draft(trace, level, region)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return [f"{path}: new, {text.count(' = ')} lines"]
    old = path.read_bytes().decode("utf-8")
    edit = updated(old, path, load(path, region), trace, level=level, region=region)
    if edit.text != old:
        path.write_bytes(edit.text.encode("utf-8"))
    return list(edit.said)


def updated(
    text: str, path: Path, wanted: Guess, trace: Trace, *, level: str = "normal", region: str | None = None
) -> Edit:
    """The text of a guess file with every value for this trace's device as the trace shows it."""
    if not any(expectation.scope.covers(trace) for expectation in wanted.expectations):
        return _with_section(text, path, trace, level, region)
    said = []
    for expectation, judged in _broken(wanted.judge(trace)).items():
        value = _value(expectation, judged)
        if value is None:
            why = judged[0].measured.reason or "no single value would hold, write it anew"
            said.append(f"{path}: {expectation} stays: {why}")
            continue
        text, note = _set(text, path, expectation, value)
        said.append(note)
    return Edit(text, tuple(said))


def _broken(judged: list[Judged]) -> dict[Expectation, list[Judged]]:
    """The lines that do not hold, each with all instances of its region."""
    found: dict[Expectation, list[Judged]] = {}
    for one in judged:
        found.setdefault(one.expectation, []).append(one)
    return {e: all_ for e, all_ in found.items() if not all(one.measured.held for one in all_)}


def _value(expectation: Expectation, judged: Sequence[Judged]) -> str | int | list[str] | None:
    """What to write so that the line holds, in the line's own comparison where that can say it."""
    got = [one.measured.got for one in judged]
    if any(value is None for value in got):
        return None
    match expectation.want:
        case Order() as want:
            return _order(want, got[0]) if all(value == got[0] for value in got) else None
        case DtypeWant("==", _):
            return str(got[0]) if len(set(map(str, got))) == 1 and "," not in str(got[0]) else None
        case Amount() as want if want.comparison != "!=":
            return _amount(want.comparison, want.unit, [Fraction(value) for value in got])  # type: ignore[arg-type]
        case Near() as want if want.bound is not None:
            slack = str(want).partition(" ± ")[2]
            bound = min if want.comparison in (">", ">=") else max
            return f"{want.comparison} {microseconds(bound(got))} us ± {slack}"  # type: ignore[type-var,arg-type]
        case _:
            return None


def _order(want: Order, got: object) -> list[str] | None:
    """The kinds, or the names as globs that match nothing else."""
    by_kind = all(item in KINDS or item == "..." for item in want.items)
    if not isinstance(got, list) or not got:
        return None
    return list(got) if by_kind else [glob.escape(name) for name in got]


def _amount(comparison: str, unit: str, got: list[Fraction]) -> str | int:
    low, high = min(got), max(got)
    if comparison in ("==", "in"):
        if low == high and comparison == "==" and unit == "count":
            return int(low)
        return f"in {_written(low, unit)}..{_written(high, unit, up=True)}"
    if comparison in ("<", "<="):
        return f"<= {_written(high, unit, up=True)}"
    return f">= {_written(low, unit)}"


def _written(value: Fraction, unit: str, *, up: bool = False) -> str:
    """Shares are rounded outwards to a tenth of a percent, so that the line holds."""
    if unit == "count":
        return str(int(value))
    if unit == "time":
        return f"{microseconds(int(value))} us"
    tenths = -(-value * 1000 // 1) if up else value * 1000 // 1
    return f"{int(tenths) / 10} %"


def _set(text: str, path: Path, expectation: Expectation, value: str | int | list[str]) -> tuple[str, str]:
    """A value in its place; or, where the line stands in a file that this one extends, at this file's end."""
    place = expectation.place
    new = literal(value)
    if place is None:
        return text, f"{path}: {expectation} stays, for it is not from a file"
    if Path(place.file) != path:
        return _append(text, path, expectation, place, new)
    entry = next((e for e in entries(text) if not e.is_table and e.path == place.keys), None)
    if entry is None:
        return text, f"{place}: {expectation} stays, for it stands in an inline table: now {new}"
    note = f"{place}: {expectation.key} = {_brief(text[entry.start : entry.end])} -> {_brief(new)}"
    return text[: entry.start] + new + text[entry.end :], note


def _brief(value: str) -> str:
    return cut(" ".join(value.split()), 80)


def _append(text: str, path: Path, expectation: Expectation, place: Place, new: str) -> tuple[str, str]:
    *table, key = place.keys
    line = f"{toml_key(key)} = {new}\n"
    found = [e for e in entries(text) if (e.path[:-1] == tuple(table) and not e.is_table)]
    note = f"{path}: {expectation.key} = {new} now replaces that of {place}"
    if found:
        at = text.find("\n", found[-1].end) + 1 or len(text)
        return text[:at] + ("" if text[:at].endswith("\n") else "\n") + line + text[at:], note
    if not table:
        return line + text, note
    head = ".".join(map(toml_key, table))
    return f"{text.rstrip()}\n\n[{head}]\n{line}", note


def _with_section(text: str, path: Path, trace: Trace, level: str, region: str | None) -> Edit:
    section, declare = section_for(trace)
    more = "".join(tables(trace, level, region))
    known = tomllib.loads(text).get(DEVICES, [])
    if declare and section not in known:
        text = _declare(text, [*([known] if isinstance(known, str) else known), section])
    return Edit(f"{text.rstrip()}\n{more}", (f"{path}: a new section for {section}",))


def _declare(text: str, devices: list[str]) -> str:
    entry = next((e for e in entries(text) if e.path == (DEVICES,)), None)
    if entry is None:
        return f"{DEVICES} = {literal(devices)}\n{text}"
    return text[: entry.start] + literal(devices) + text[entry.end :]
