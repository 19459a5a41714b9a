"""A trace in a few lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from rung import units
from rung.trace.intervals import union_ns

if TYPE_CHECKING:
    from rung.trace.model import Trace

SHOWN = 6
"""Names of regions in a summary."""


def summary(trace: Trace) -> Iterator[str]:
    """What it is, its regions, its work, its warnings: a line each."""
    where = trace.device or ("no GPU" if trace.stand_in else "device not named")
    yield f"{trace.path}: {where}, {units.duration(trace.span_ns)}, {units.count(trace.events, 'event')}"
    regions = Counter(trace.tables.regions.name)
    shown = [f"{name} x{n}" if n > 1 else name for name, n in regions.most_common(SHOWN)]
    more = f" and {len(regions) - SHOWN} more" if len(regions) > SHOWN else ""
    yield f"  regions: {', '.join(shown)}{more}"
    yield f"  {', '.join(_work(trace))}"
    for warning in trace.warnings:
        yield f"  {warning.code} x{warning.count}: {warning.message}"


def _work(trace: Trace) -> Iterator[str]:
    table = trace.tables.kernels
    counts = Counter(table.category)
    nouns = {"kernel": "kernel", "op": "stand-in op", "copy": "copy", "memset": "memset"}
    yield from (units.count(counts[key], noun) for key, noun in nouns.items() if counts[key])
    yield units.count(len(trace.tables.launches.name), "launch")
    yield units.count(len(trace.tables.ops.name), "op")
    if not trace.stand_in and len(table.name):
        rows = np.flatnonzero(table.timed)
        busy = union_ns(table.start_ns[rows], table.start_ns[rows] + table.dur_ns[rows])
        yield f"GPU busy {units.duration(busy)}"
