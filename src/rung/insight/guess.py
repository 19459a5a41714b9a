"""Guess first, then look: `guess(kernels=5, gemm=3).check(trace)`. The language is in docs/guesses.md."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction
from pathlib import Path

from rung.errors import UsageError
from rung.insight.guessing.language import Expectation, expect, parse
from rung.insight.guessing.measures import Measured, measure
from rung.insight.guessing.verdict import Check, Verdict
from rung.insight.guessing.wants import shown
from rung.trace import Region, Trace

__all__ = ["Check", "Expectation", "Guess", "Verdict", "guess", "load", "regions_of"]


@dataclass(frozen=True, slots=True)
class Guess:
    """What a trace is expected to show. Guesses add up: `a + b` expects both."""

    expectations: tuple[Expectation, ...]

    def __add__(self, other: Guess) -> Guess:
        return Guess(tuple(dict.fromkeys(self.expectations + other.expectations)))

    def __str__(self) -> str:
        return "\n".join(f"{e}  in {e.region}" if e.region else str(e) for e in self.expectations)

    def check(self, trace: Trace, *, allow_incomplete: bool = False) -> Verdict:
        """Judge every expectation on every instance of its region; all must hold.

        What cannot be judged does not hold, and `Verdict.reason` says why: a trace that is cut short or was
        repaired, a launch whose work is missing, a dtype that nothing tells. `allow_incomplete` counts what
        there is instead.

        Raises:
            UsageError: a region that the trace does not have.
        """
        if trace.incomplete and not allow_incomplete:
            return Verdict(False, trace.incomplete, ())
        regions = {
            name: regions_of(trace, name) for name in dict.fromkeys(e.region for e in self.expectations)
        }
        judged = [
            (expectation, region, measure(expectation, region, allow_incomplete=allow_incomplete))
            for expectation in self.expectations
            for region in regions[expectation.region]
        ]
        checks = tuple(_check(*each) for each in judged)
        held = bool(checks) and all(check.held for check in checks)
        return Verdict(held, _reason(judged), checks, _notes(trace, held))


def guess(*wanted: str | Mapping[str, object], region: str | None = None, **expectations: object) -> Guess:
    """Write down what a trace should show.

    `guess(kernels=5, gemm=">= 3")`, `guess("op:aten::addmm>=1")`, `guess({"op:aten::addmm": ">=1"})`

    A value is a number, a comparison as text, or a list for `order`. A mapping as value makes its key a
    region, as in a file: `guess({"mlp_fwd": {"kernels": 5}})`. `region` is a glob over the names of regions,
    for all that names none itself; without it the outermost user annotations are judged.

    Raises:
        UsageError: an unknown key, a value that does not fit its key, or nothing expected at all.
    """
    found: list[Expectation] = []
    for one in (*wanted, expectations):
        found += [parse(one, region)] if isinstance(one, str) else _table(one, region)
    if not found:
        raise UsageError("a guess expects something: guess(kernels=5), or guess('op:aten::addmm >= 1')")
    return Guess(tuple(dict.fromkeys(found)))


def load(path: str | os.PathLike[str], region: str | None = None) -> Guess:
    """Read a `*.guess.toml`: a table for each region; keys above the tables go to `region`, or the outermost.

    Raises:
        UsageError: the file cannot be read or is no TOML, or it holds an expectation that cannot be read.
    """
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    try:
        return Guess(tuple(dict.fromkeys(_must_hold_something(_table(table, region)))))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def regions_of(trace: Trace, name: str | None = None) -> list[Region]:
    """The instances a guess judges: those whose name the glob matches, else the outermost ones.

    Raises:
        UsageError: no region has that name.
    """
    if name is None:
        return [region for region in trace.regions if region.parent is None]
    found = [region for region in trace.regions if fnmatchcase(region.name, name)]
    if not found:
        there = ", ".join(dict.fromkeys(region.name for region in trace.regions)) or "none"
        raise UsageError(f"no region {shown(name)} in {trace.path}; there are: {there}")
    return found


def _table(table: Mapping[str, object], region: str | None, where: str = "") -> Iterator[Expectation]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            if where:
                raise UsageError(f"[{where}]: {shown(key)} is a table; tables of regions do not nest")
            yield from _table(value, key, key)
            continue
        try:
            yield expect(key, value, region)
        except UsageError as error:
            raise UsageError(f"[{where}] {error}" if where else str(error)) from error


def _must_hold_something(expectations: Iterator[Expectation]) -> list[Expectation]:
    found = list(expectations)
    if not found:
        raise UsageError("expects nothing; write for example kernels = 5")
    return found


def _check(expectation: Expectation, region: Region, measured: Measured) -> Check:
    got = float(measured.got) if isinstance(measured.got, Fraction) else measured.got
    key, want = expectation.key, str(expectation.want)
    return Check(region.name, region.step, key, want, got, measured.held, measured.evidence)


def _reason(judged: list[tuple[Expectation, Region, Measured]]) -> str | None:
    if not judged:
        return "there is no region in this trace"
    reasons = list(dict.fromkeys(f"{e.key} in {r.name}: {m.reason}" for e, r, m in judged if m.reason))
    more = f"; and {len(reasons) - 3} more" if len(reasons) > 3 else ""
    return "; ".join(reasons[:3]) + more if reasons else None


def _notes(trace: Trace, held: bool) -> tuple[str, ...]:
    notes = ["No GPU work in this trace: ops stand in for kernels."] if trace.stand_in else []
    if trace.incomplete:
        notes.append(f"Incomplete, judged all the same: {trace.incomplete}")
    if not held:
        unlinked = (warning for warning in trace.warnings if warning.code == "unlinked")
        notes += [f"{warning.count} {warning.message}; they count where they ran" for warning in unlinked]
    return tuple(notes)
