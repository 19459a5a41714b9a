"""A guess file drafted from a trace, at one of three strictness levels. A draft holds of its own trace."""

from __future__ import annotations

import glob
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

from rung import units
from rung.errors import UsageError
from rung.insight.forward import STEPS, family_name
from rung.insight.guessing.devices import device_of, section_for
from rung.insight.guessing.language import expect
from rung.insight.guessing.measures import Measured, measure
from rung.insight.guessing.wants import KINDS
from rung.trace import Region, Trace

Level = Literal["loose", "normal", "strict"]
LEVELS: tuple[str, ...] = get_args(Level)
LONG = 60
"""Kernels of a region beyond which their order is no use to a reader."""


def draft(trace: Trace, level: str = "normal", region: str | None = None) -> str:
    """The text of a guess file that holds of this trace, in sections for its device.

    `loose`: no more kernels and launches than now, the same dtype. `normal`: how many kernels of each kind,
    copies, memsets, launches. `strict`: also each kernel's name in turn and, on a GPU whose model is known,
    the time within 10 %.

    Raises:
        UsageError: no such level or region, or a trace that a guess would not judge.
    """
    section, declare = section_for(trace)
    source = "/".join(Path(trace.path).parts[-2:])
    head = f"# Drafted from {source}, {device_of(trace) or 'device not named'}, {level}.\n"
    devices = f'devices = ["{section}"]\n' if declare else ""
    return head + devices + "".join(tables(trace, level, region))


def tables(trace: Trace, level: str = "normal", region: str | None = None) -> Iterator[str]:
    """The tables of a draft, one a region, each after an empty line. Raises as `draft` does."""
    if level not in LEVELS:
        raise UsageError(f"strictness {level!r} is not known: give {units.listing(LEVELS)}")
    if trace.incomplete:
        raise UsageError(
            f"{trace.path}: nothing is drafted from a trace that no guess judges: {trace.incomplete}"
        )
    section, _ = section_for(trace)
    for name, instances in _grouped(trace, region).items():
        lines = list(_lines(instances, level, section not in ("cpu", "gpu")))
        yield f"\n[{section}.{toml_key(name)}]\n" + "".join(f"{line}\n" for line in lines)


def literal(value: object) -> str:
    """A number, text or list of texts as TOML."""
    if isinstance(value, list):
        items = list(map(literal, value))
        if sum(map(len, items)) < 80:
            return f"[{', '.join(items)}]"
        return "[\n" + "".join(f"    {item},\n" for item in items) + "]"
    # JSON's escapes are TOML's, but for the one control character that JSON leaves as it is.
    return (
        str(value)
        if isinstance(value, int)
        else json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    )


def _grouped(trace: Trace, region: str | None) -> dict[str, list[Region]]:
    from rung.insight.guess import regions_of

    found: dict[str, list[Region]] = {}
    for one in regions_of(trace, region):
        name = f"{STEPS}*" if family_name(one) == STEPS else glob.escape(one.name)
        found.setdefault(name, []).append(one)
    return found


def _lines(instances: list[Region], level: str, timed: bool) -> Iterator[str]:
    counts = (
        ["kernels", "launches"] if level == "loose" else ["kernels", *KINDS, "copies", "memsets", "launches"]
    )
    stand_in = instances[0].trace.stand_in
    for key in counts:
        if key in ("copy", "memset") or (stand_in and key in ("copies", "memsets", "launches")):
            continue
        got = [m.got for m in _measured(instances, key, 0) if isinstance(m.got, int)]
        if len(got) < len(instances):
            yield f"# {key}: some launches left no work in the trace, so it cannot be judged"
        elif any(got) or key in ("kernels", "launches", "copies"):
            yield f"{key} = {_count(got, level)}"
    dtypes = {m.got for m in _measured(instances, "dtype", "bf16")}
    if len(dtypes) == 1 and (dtype := dtypes.pop()) and "," not in str(dtype) and " " not in str(dtype):
        yield f"dtype = {literal(dtype)}"
    if level == "strict":
        yield from _strict(instances, timed)


def _strict(instances: list[Region], timed: bool) -> Iterator[str]:
    sequences = {tuple(kernel.name for kernel in region.kernels) for region in instances}
    if len(sequences) == 1 and 0 < len(names := sequences.pop()) <= LONG:
        yield f"order = {literal([glob.escape(name) for name in names])}"
    if timed:
        busy = [m.got for m in _measured(instances, "gpu_busy", "0 ns") if isinstance(m.got, int)]
        if len(busy) == len(instances) and max(busy):
            yield f'gpu_busy = "<= {microseconds(max(busy))} us ± 10 %"'


def microseconds(ns: int) -> str:
    return f"{ns // 1000}.{ns % 1000:03}".rstrip("0").rstrip(".")


def _measured(instances: list[Region], key: str, value: object) -> list[Measured]:
    return [measure(expect(key, value), region) for region in instances]


def _count(got: list[int], level: str) -> str:
    low, high = min(got), max(got)
    if level == "loose":
        return f'"<= {high}"'
    return str(low) if low == high else f'"in {low}..{high}"'


def toml_key(name: str) -> str:
    """A key as TOML has it, in quotes where it needs them."""
    return name if name.isascii() and name.replace("-", "_").isidentifier() else literal(name)
