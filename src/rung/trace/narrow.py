"""A part of a trace, as a trace: the work of one device, of one stream, of a stretch of time."""

from __future__ import annotations

import copy
from dataclasses import fields, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from rung.errors import UsageError
from rung.trace.model import Tables, Trace
from rung.trace.tables import Bools, Ints, KernelTable, LaunchTable, Members, RegionTable, index_of, members

T = TypeVar("T", KernelTable, LaunchTable)


def narrow(
    trace: Trace,
    *,
    device: str | None = None,
    stream: str | None = None,
    between: tuple[int, int] | None = None,
) -> Trace:
    """The trace with the work on a device, on a stream, and that runs in `between` (ns, the end left out).

    Launches stay with their work; those that have none stay if they begin in that time and neither device nor
    stream was asked for. Regions stay if they overlap that time or hold work that stays; what they count is
    what is left. Ops and calls that put no work on a device all stay.

    Raises:
        UsageError: no work ran on such a device or stream.
    """
    tables = trace.tables
    kept = np.ones(len(tables.kernels.name), dtype=bool)
    for noun, wanted, known in (
        ("device", device, tables.kernels.device),
        ("stream", stream, tables.kernels.stream),
    ):
        if wanted is not None:
            kept &= _same(trace, noun, wanted, known)
    if between is not None:
        end = tables.kernels.start_ns + np.maximum(tables.kernels.dur_ns, 1)
        kept &= tables.kernels.timed & (tables.kernels.start_ns < between[1]) & (end > between[0])
    narrowed = copy.copy(trace)
    for name, made in vars(Trace).items():
        if isinstance(made, cached_property):
            narrowed.__dict__.pop(name, None)  # made anew of the new tables
    narrowed.tables = _part(tables, kept, _launches(trace, kept, device is stream is None, between), between)
    return narrowed


def _same(trace: Trace, noun: str, wanted: str, known: list[int | str | None]) -> Bools:
    same = np.array([str(value) == wanted for value in known], dtype=bool)
    if not same.any():
        there = ", ".join(sorted({str(value) for value in known if value is not None})) or "none"
        raise UsageError(f"{trace.path} has no work on {noun} {wanted}; its {noun}s: {there}.")
    return same


def _launches(trace: Trace, kernels: Bools, idle_too: bool, between: tuple[int, int] | None) -> Bools:
    """Which launches stay with these kernels."""
    table, launched = trace.tables.launches, trace.tables.kernels.launch
    kept = np.isin(np.arange(len(table.name)), launched[kernels])
    if idle_too:
        idle = ~np.isin(np.arange(len(table.name)), launched)
        first, last = between or (0, trace.span_ns + 1)
        kept |= idle & (table.start_ns >= first) & (table.start_ns < last)
    return kept


def _part(tables: Tables, kernels: Bools, launches: Bools, between: tuple[int, int] | None) -> Tables:
    regions = tables.regions
    region_of = np.where(kernels, tables.kernels.region, -1)
    kept = np.ones(len(regions.name), dtype=bool)
    if between is not None:
        kept = (regions.start_ns < between[1]) & (
            regions.start_ns + np.maximum(regions.cpu_ns, 1) > between[0]
        )
        kept[region_of[region_of >= 0]] = True
        for row in np.flatnonzero(kept)[::-1].tolist():  # parents come first
            kept[regions.parent[row]] |= regions.parent[row] >= 0
    region, launch = _new_rows(kept), _new_rows(launches)
    return Tables(
        tables.ops,
        _taken(tables.launches, launches),
        tables.calls,
        replace(
            _taken(tables.kernels, kernels),
            region=region[tables.kernels.region[kernels]],
            launch=launch[tables.kernels.launch[kernels]],
        ),
        _regions(regions, kept, _new_rows(kernels), launch),
        tables.steps,
    )


def _new_rows(kept: Bools) -> Ints:
    """Where each row went; -1 for what is gone, and for row -1."""
    return index_of(np.flatnonzero(kept), len(kept))


def _taken(table: T, kept: Bools) -> T:
    rows = np.flatnonzero(kept)
    columns: dict[str, Any] = {field.name: getattr(table, field.name) for field in fields(table)}
    for name, column in columns.items():
        columns[name] = [column[i] for i in rows.tolist()] if isinstance(column, list) else column[rows]
    return replace(table, **columns)


def _regions(table: RegionTable, kept: Bools, kernel: Ints, launch: Ints) -> RegionTable:
    rows = np.flatnonzero(kept)
    last = max(int(held.items.max(initial=-1)) for held in (table.ops, table.calls))
    unchanged = np.arange(last + 2)
    return RegionTable(
        name=[table.name[i] for i in rows.tolist()],
        start_ns=table.start_ns[rows],
        cpu_ns=table.cpu_ns[rows],
        parent=_new_rows(kept)[table.parent[rows]],
        step=table.step[rows],
        kernels=_still(table.kernels, rows, kernel),
        launches=_still(table.launches, rows, launch),
        ops=_still(table.ops, rows, unchanged),
        calls=_still(table.calls, rows, unchanged),
    )


def _still(held: Members, owners: Ints, moved: Ints) -> Members:
    """What is left of what some owners held."""
    per_owner = [moved[held.of(row)] for row in owners.tolist()]
    left = [items[items >= 0] for items in per_owner]
    owner = np.repeat(np.arange(len(left)), [len(items) for items in left]).astype(np.int64)
    return members(owner, len(left), np.concatenate([np.zeros(0, np.int64), *left]))
