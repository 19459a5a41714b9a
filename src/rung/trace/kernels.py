"""The table of device work, or of the ops that stand in for it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import count

import numpy as np

from rung.trace.clip import clip_overruns
from rung.trace.clock import NO_TIME
from rung.trace.columns import Spans
from rung.trace.linking import Links
from rung.trace.roles import Role
from rung.trace.standins import stand_ins
from rung.trace.tables import Ints, KernelTable, LaunchTable, OpTable, index_of, take
from rung.trace.warnings import Warning
from rung.trace.zones import Zones, locate

CATEGORY: dict[int, str] = {Role.KERNEL: "kernel", Role.COPY: "copy", Role.MEMSET: "memset"}


def kernel_table(
    spans: Spans, links: Links, launches: LaunchTable, ops: OpTable, origin: int
) -> tuple[KernelTable, list[Warning]]:
    """Device work by start, not yet placed in regions and steps."""
    order = np.lexsort((spans.start[links.device_rows], ~spans.timed[links.device_rows]))
    rows = links.device_rows[order]
    timed = spans.timed[rows]
    start = np.where(timed, spans.start[rows] - origin, 0)
    stream = [links.stream[i] for i in order.tolist()]
    device = [links.device[i] for i in order.tolist()]
    lanes: defaultdict[tuple[object, object], int] = defaultdict(count().__next__)
    lane = list(map(lanes.__getitem__, zip(device, stream, strict=True)))
    recorded = np.where(timed, spans.times.dur[rows], 0)
    dur, warnings = clip_overruns(start, recorded, np.array(lane, dtype=np.int64), timed)
    launch = index_of(launches.span, len(spans))[links.launch[order]]
    by_flow = index_of(ops.span, len(spans))[links.op[order]]
    raw_dur = spans.times.raw_dur[rows]
    table = KernelTable(
        span=rows,
        name=spans.names(rows),
        category=[CATEGORY[role] for role in spans.role[rows].tolist()],
        start_ns=start,
        dur_ns=dur,
        raw_dur_ns=np.where(raw_dur == NO_TIME, 0, raw_dur),
        timed=timed,
        device=device,
        stream=stream,
        correlation=[c or None for c in links.correlation[order].tolist()],
        launch=launch,
        op=np.where(launch >= 0, take(launches.op, launch), by_flow),
        region=_nowhere(rows),
        step=_nowhere(rows),
    )
    return table, warnings


def stand_in_table(ops: OpTable) -> KernelTable:
    """The innermost compute ops in the place of kernels."""
    rows = stand_ins(ops.name, ops.parent)
    absent: list[None] = [None] * len(rows)
    return KernelTable(
        span=ops.span[rows],
        name=[ops.name[i] for i in rows.tolist()],
        category=["op"] * len(rows),
        start_ns=ops.start_ns[rows],
        dur_ns=ops.dur_ns[rows],
        raw_dur_ns=ops.dur_ns[rows],
        timed=np.ones(len(rows), dtype=bool),
        device=list(absent),
        stream=list(absent),
        correlation=list(absent),
        launch=_nowhere(rows),
        op=rows,
        region=_nowhere(rows),
        step=_nowhere(rows),
    )


def placed(
    kernels: KernelTable,
    spans: Spans,
    launches: LaunchTable,
    ops: OpTable,
    zones: Zones,
    steps: Zones,
    origin: int,
) -> KernelTable:
    """The kernels with region and step: by their launch (or op), by their own time where unlinked."""
    cause = np.where(kernels.launch >= 0, take(launches.span, kernels.launch), take(ops.span, kernels.op))
    cause = np.where(take(spans.timed.astype(np.int64), cause) == 1, cause, -1)
    at = np.where(cause >= 0, take(spans.start, cause), kernels.start_ns + origin)
    thread = np.where(cause >= 0, take(spans.thread, cause), -1)
    lost = (cause < 0) & ~kernels.timed
    region = np.where(lost, -1, locate(zones, at, thread))
    return replace(kernels, region=region, step=np.where(lost, -1, locate(steps, at, thread)))


def _nowhere(rows: Ints) -> Ints:
    return np.full(len(rows), -1, dtype=np.int64)
