"""Guess first, then look: `guess(kernels=5, gemm=3).check(trace)`. The language is in docs/guesses.md."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction
from pathlib import Path

from rung.errors import UsageError
from rung.insight.guessing.devices import device_of
from rung.insight.guessing.files import read_file
from rung.insight.guessing.language import Expectation, expect, parse
from rung.insight.guessing.measures import Judged, measure
from rung.insight.guessing.tolerance import Near
from rung.insight.guessing.verdict import Check, Verdict
from rung.insight.guessing.wants import shown
from rung.trace import Region, Trace, read
from rung.trace.given import check_traces

__all__ = ["Check", "Expectation", "Guess", "Verdict", "guess", "load", "regions_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Guess:
    """What a trace is expected to show. Guesses add up: `a + b` expects both."""

    expectations: tuple[Expectation, ...]

    def __add__(self, other: Guess) -> Guess:
        return Guess(tuple(dict.fromkeys(self.expectations + other.expectations)))

    def __str__(self) -> str:
        return "\n".join(map(_said, self.expectations))

    def __eq__(self, other: object) -> bool:
        """Guesses with the same expectations are equal; a trace or recording equals a guess that holds of it:
        `assert recording == guess(kernels=5)`."""
        if isinstance(other, Guess):
            return self.expectations == other.expectations
        trace = other if isinstance(other, Trace) else getattr(other, "trace", None)
        return self.check(trace).held if isinstance(trace, Trace) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.expectations)

    def check(
        self, trace: Trace, *, allow_incomplete: bool = False, baseline: Trace | None = None
    ) -> Verdict:
        """Judge every expectation for this trace's device on every instance of its region; all must hold.

        What cannot be judged does not hold, and `Verdict.reason` says why: a trace that is cut short or was
        repaired, a launch whose work is missing, a dtype that nothing tells. `allow_incomplete` counts what
        there is instead. `baseline` is the trace that tolerances are about; else the one their file names.

        Raises:
            UsageError: a region that the trace does not have, or what is no trace.
        """
        check_traces("check", trace, trace if baseline is None else baseline)
        if trace.incomplete and not allow_incomplete:
            return Verdict(False, trace.incomplete, ())
        judged = self.judge(trace, allow_incomplete=allow_incomplete, baseline=baseline)
        checks = tuple(map(_check, judged))
        held = bool(checks) and all(check.held for check in checks)
        return Verdict(held, self._reason(trace, judged), checks, _notes(trace, held))

    def judge(
        self, trace: Trace, *, allow_incomplete: bool = False, baseline: Trace | None = None
    ) -> list[Judged]:
        """The expectations for this trace's device, each with an instance of its region and what it shows."""
        applying = [e for e in self.expectations if e.scope.covers(trace)]
        regions = {name: regions_of(trace, name) for name in dict.fromkeys(e.region for e in applying)}
        paths = {} if baseline else dict.fromkeys(e.baseline for e in applying if isinstance(e.want, Near))
        baselines = {path: read(path) for path in paths if path is not None}
        return [
            Judged(expectation, region, measure(
                expectation, region, allow_incomplete=allow_incomplete,
                baseline=baseline or baselines.get(expectation.baseline or ""),
            ))
            for expectation in applying
            for region in regions[expectation.region]
        ]  # fmt: skip

    def _reason(self, trace: Trace, judged: list[Judged]) -> str | None:
        if not any(e.scope.covers(trace) for e in self.expectations):
            sections = ", ".join(dict.fromkeys(f"[{e.scope.section}]" for e in self.expectations))
            return f"the guess has nothing for this device, {_device(trace)}; its sections are {sections}"
        return _reason(judged)


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
    """Read a `*.guess.toml`; keys outside of a region's table go to `region`, or the outermost annotations.

    Raises:
        UsageError: the file, or one it extends, cannot be read or is no TOML, or it holds an expectation that
            cannot be read; the message names line and column.
    """
    return Guess(tuple(read_file(Path(path), region)))


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


def _said(expectation: Expectation) -> str:
    where = f"  in {expectation.region}" if expectation.region else ""
    return f"{expectation}{where}" + (f"  {scope}" if (scope := str(expectation.scope)) else "")


def _check(judged: Judged) -> Check:
    expectation, region, measured = judged.expectation, judged.region, judged.measured
    got = float(measured.got) if isinstance(measured.got, Fraction) else measured.got
    want = str(expectation.want)
    return Check(
        region.name, region.step, expectation.key, want, got, measured.held, measured.evidence,
        expectation.place,
    )  # fmt: skip


def _device(trace: Trace) -> str:
    return device_of(trace) or ("a CPU" if trace.stand_in else "which the trace does not name")


def _reason(judged: list[Judged]) -> str | None:
    if not judged:
        return "there is no region in this trace"
    reasons = list(
        dict.fromkeys(
            f"{j.expectation.key} in {j.region.name}: {j.measured.reason}"
            for j in judged
            if j.measured.reason
        )
    )
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
