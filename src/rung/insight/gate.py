"""Hold a new trace against a baseline: `gate(base, new, "kernels <= +0")`. The language is in docs/ci.md."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rung.errors import UsageError
from rung.insight.gating.judge import judge, pair
from rung.insight.gating.language import Rule, parse, rules
from rung.insight.gating.machines import differences
from rung.insight.gating.verdict import GateCheck, GateVerdict
from rung.insight.guessing.files import Text, read_toml
from rung.insight.guessing.places import place_of
from rung.insight.guessing.wants import shown
from rung.trace import Trace
from rung.trace.given import check_traces

__all__ = ["GateCheck", "GateVerdict", "Rule", "gate", "hold", "load_gate"]


def gate(base: Trace, new: Trace, *lines: str, region: str | None = None) -> GateVerdict:
    """Whether NEW keeps to what the lines say about its differences from BASE.

    `gate(base, new, "kernels <= +0", "gpu_busy <= +5%", "no-new-family:aten", "same:gemm")`

    Raises:
        UsageError: a line that cannot be read, a region that one of the traces lacks, or what is no trace.
    """
    check_traces("gate", base, new)
    if not lines:
        raise UsageError("a gate expects something: gate(base, new, 'kernels <= +0')")
    return hold(base, new, [parse(line, region) for line in lines])


def hold(base: Trace, new: Trace, wanted: Sequence[Rule]) -> GateVerdict:
    """Judge every line on one forward (medians over its instances) of each trace; all must hold.

    What cannot be judged does not hold: a trace that is cut short, a time whose steps differ too much, or
    that was taken on another device or with other versions.

    Raises:
        UsageError: a region that one of the traces lacks.
    """
    notes = differences(base, new)
    for which, trace in (("BASE", base), ("NEW", new)):
        if trace.incomplete:
            return GateVerdict(False, f"{which} ({trace.path}): {trace.incomplete}", (), tuple(notes))
    pairs = {region: pair(base, new, region) for region in dict.fromkeys(rule.region for rule in wanted)}
    checks = tuple(judge(rule, pairs[rule.region]) for rule in wanted)
    reasons = dict.fromkeys(f"{check.line}: {check.reason}" for check in checks if check.reason)
    held = bool(checks) and all(check.held for check in checks)
    return GateVerdict(held, "; ".join(reasons) or None, checks, tuple(notes))


def load_gate(path: str | os.PathLike[str], region: str | None = None) -> list[Rule]:
    """Read a gate file: a table for each region; keys above the tables go to `region`, or the outermost one.

    Raises:
        UsageError: the file cannot be read or is no TOML, or a line cannot be read; the message names it.
    """
    file = read_toml(Path(path))
    found: list[Rule] = []
    for key, value in file.table.items():
        if isinstance(value, Mapping):
            for inner, text in value.items():
                found += _rules(file, (key, inner), text, key)
        else:
            found += _rules(file, (key,), value, region)
    if not found:
        raise UsageError(f"{path}: line 1, column 1: expects nothing; write for example kernels = '<= +0'")
    return found


def _rules(file: Text, keys: tuple[str, ...], value: object, region: str | None) -> list[Rule]:
    place = place_of(file.text, str(file.path), keys)
    where = f"[{keys[0]}] " if len(keys) > 1 else ""
    if isinstance(value, Mapping):
        file.refuse(keys, f"{where}{shown(keys[-1])} is a table; tables of regions do not nest")
    try:
        return [replace(rule, place=place) for rule in rules(keys[-1], value, region)]
    except UsageError as error:
        file.refuse(keys, f"{where}{error}", value="unknown key" not in str(error))
