"""Regions and steps: the spans of CPU time that device work is counted in."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase

import numpy as np

from rung.trace.columns import Ints, Spans
from rung.trace.roles import CPU_SIDE, DEVICE_SIDE, Role
from rung.trace.warnings import Warning
from rung.trace.zones import Zones, zones_of

STEP = re.compile(r"ProfilerStep\s?#(\d{1,18})")

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


def is_pytorch_own(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in PYTORCH_OWN)


def find_steps(spans: Spans, end: Ints) -> tuple[Zones, Ints]:
    """The profiler's steps and their numbers. `end` are the spans' ends, presumed where they were lost."""
    steps = zones_of(spans, end, _annotations(spans, STEP.fullmatch))
    numbers = [int(STEP.fullmatch(name)[1]) for name in steps.name]  # type: ignore[index]
    return steps, np.array(numbers, dtype=np.int64)


def find_regions(spans: Spans, end: Ints, steps: Zones) -> tuple[Zones, list[Warning]]:
    """User annotations; where there are none the steps; where there are none the whole trace."""
    rows = _annotations(spans, lambda name: not is_pytorch_own(name))
    missing = [] if len(steps.row) else [Warning("no-steps", 1, None, _NO_STEPS[rows.size > 0])]
    if rows.size:
        return zones_of(spans, end, rows), missing
    return (steps if len(steps.row) else _whole(spans)), missing


_NO_STEPS = {
    True: "no profiler steps in this trace: regions come from its annotations alone",
    False: "no profiler steps and no annotations in this trace: it is read as one region",
}


def _annotations(spans: Spans, wanted: Callable[[str], object]) -> Ints:
    rows = spans.rows(Role.ANNOTATION)
    rows = rows[spans.timed[rows]]
    return rows[spans.named(wanted, rows)]


def _whole(spans: Spans) -> Zones:
    """One zone, from the first op, call or device event to the end of the last."""
    work = spans.timed & spans.has(*(CPU_SIDE - {Role.FRAME}), *DEVICE_SIDE)
    rows = work if work.any() else spans.timed
    start = int(spans.start[rows].min()) if rows.any() else 0
    end = int(spans.end[rows].max()) if rows.any() else 0
    none = np.full(1, -1, dtype=np.int64)
    return Zones([WHOLE_TRACE], none, none + 1 + start, none + 1 + end, none + 1 + end - start, none, none)
