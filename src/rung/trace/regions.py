"""Regions and steps: the spans of CPU time that device work is counted in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from rung.trace.columns import Ints, Role, Spans
from rung.trace.nesting import Nesting, nest
from rung.trace.warnings import Warning

STEP = re.compile(r"ProfilerStep\s?#(\d+)")

PYTORCH_OWN = (
    "ProfilerStep*#*",
    "## Call CompiledFxGraph *",
    "Optimizer.*",
    "*_data: *compile_id=*",
    "DistributedDataParallel.*",
    "FSDP*",
    "enumerate(DataLoader)*",
    "nccl:*",
    "gloo:*",
    "hccl:*",
)
"""Annotations that PyTorch makes by itself; they are no regions."""

WHOLE_TRACE = "whole trace"


@dataclass(frozen=True, slots=True)
class Zones:
    """Annotation instances, by start. `row` is the row in `Spans`, -1 for the whole trace as one zone."""

    name: list[str]
    row: Ints
    start: Ints
    end: Ints
    parent: Ints
    thread: Ints
    nesting: Nesting


def is_pytorch_own(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in PYTORCH_OWN)


def find_steps(spans: Spans) -> tuple[Zones, Ints]:
    """The profiler's steps and their numbers."""
    rows = [i for i in _annotations(spans) if STEP.fullmatch(spans.name[i])]
    zones = _zones(spans, rows)
    numbers = [int(STEP.fullmatch(name).group(1)) for name in zones.name]  # type: ignore[union-attr]
    return zones, np.array(numbers, dtype=np.int64)


def find_regions(spans: Spans, steps: Zones) -> tuple[Zones, list[Warning]]:
    """User annotations; where there are none the steps; where there are none the whole trace."""
    rows = [i for i in _annotations(spans) if not is_pytorch_own(spans.name[i])]
    missing = [] if len(steps.row) else [Warning("no-steps", 1, None, _NO_STEPS[bool(rows)])]
    if rows:
        return _zones(spans, rows), missing
    if len(steps.row):
        return steps, missing
    return _whole(spans), missing


_NO_STEPS = {
    True: "no profiler steps in this trace: regions come from its annotations alone",
    False: "no profiler steps and no annotations in this trace: it is read as one region",
}


def _annotations(spans: Spans) -> list[int]:
    rows = spans.rows(Role.ANNOTATION)
    return [int(i) for i in rows if spans.timed[i]]


def _zones(spans: Spans, rows: list[int]) -> Zones:
    order = np.array(rows, dtype=np.int64)
    order = order[np.lexsort((-spans.dur[order], spans.start[order]))]
    start, end = spans.start[order], spans.start[order] + spans.dur[order]
    nesting = nest(start, end, spans.thread[order])
    return Zones(
        [spans.name[i] for i in order.tolist()], order, start, end, nesting.parent, spans.thread[order], nesting
    )


def _whole(spans: Spans) -> Zones:
    timed = spans.timed & np.isin(spans.role, [Role.OP, Role.CALL, Role.KERNEL, Role.COPY, Role.MEMSET])
    start = spans.start[timed].min(initial=np.iinfo(np.int64).max)
    end = (spans.start + spans.dur)[timed].max(initial=start)
    one = np.zeros(1, dtype=np.int64)
    nesting = nest(one, one, one)
    if not timed.any():
        start = end = int(spans.start[spans.timed].min()) if spans.timed.any() else 0
    return Zones([WHOLE_TRACE], one - 1, one + start, one + end, one - 1, one - 1, nesting)


def locate(zones: Zones, at: Ints, thread: Ints) -> Ints:
    """The innermost zone around each moment, on its own thread first, else on any: -1 where there is none.

    Autograd launches backward kernels from a thread of its own, inside an annotation of the main thread.
    """
    found = np.full(len(at), -1, dtype=np.int64)
    if not len(zones.row) or not len(at):
        return found
    if zones.row[0] == -1:
        return np.zeros(len(at), dtype=np.int64)
    own = _innermost(zones.start, zones.end, zones.thread, at, thread)
    anywhere = _innermost(zones.start, zones.end, np.zeros_like(zones.thread), at, np.zeros_like(thread))
    return np.where(own >= 0, own, anywhere)


def _innermost(start: Ints, end: Ints, zone_thread: Ints, at: Ints, thread: Ints) -> Ints:
    n = len(start)
    moments = nest(
        np.concatenate([start, at]), np.concatenate([end, at]), np.concatenate([zone_thread, thread])
    )
    is_zone = np.arange(n + len(at)) < n
    return moments.nearest(is_zone)[n:]


def members(zones: Zones, innermost: Ints) -> tuple[Ints, NDArray[np.int64]]:
    """Which items each zone holds, those of the zones inside it included.

    Returns items sorted by zone then item, and offsets: zone z holds `items[offsets[z]:offsets[z + 1]]`.
    """
    items, zone = np.flatnonzero(innermost >= 0), innermost[innermost >= 0]
    all_items, all_zones = [items], [zone]
    while items.size:
        zone = zones.parent[zone]
        items, zone = items[zone >= 0], zone[zone >= 0]
        all_items.append(items)
        all_zones.append(zone)
    flat_items, flat_zones = np.concatenate(all_items), np.concatenate(all_zones)
    order = np.lexsort((flat_items, flat_zones))
    offsets = np.searchsorted(flat_zones[order], np.arange(len(zones.row) + 1))
    return flat_items[order], offsets
