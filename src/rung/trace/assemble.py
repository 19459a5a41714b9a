"""Document -> columns -> links -> regions -> `Trace`: the way through this room, in order."""

from __future__ import annotations

import numpy as np

from rung.trace.calls import call_rows, call_table
from rung.trace.columns import Spans, build
from rung.trace.cpu_side import nest_cpu_side, presumed_ends
from rung.trace.document import Document
from rung.trace.kernels import kernel_table, placed, stand_in_table
from rung.trace.launches import launch_table
from rung.trace.link_warnings import link_warnings
from rung.trace.linking import Links, link
from rung.trace.model import Header, Tables, Trace
from rung.trace.ops import op_table
from rung.trace.regions import find_regions, find_steps
from rung.trace.roles import Role
from rung.trace.tables import Ints, KernelTable, LaunchTable, OpTable, RegionTable, StepTable, take
from rung.trace.warnings import DAMAGE, Warning
from rung.trace.zones import Zones, contents, locate


def assemble(document: Document) -> Trace:
    """Link a decoded document into a trace."""
    columns = build(document)
    spans = columns.spans
    origin, span = _extent(spans)
    end = presumed_ends(spans)
    nesting = nest_cpu_side(spans, end)
    links = link(columns, nesting)

    op_around = nesting.nearest(spans.role == Role.OP)
    ops = op_table(columns, nesting, op_around, origin)
    launches = launch_table(spans, links, op_around, ops.span, origin)
    call_spans = call_rows(spans, links)
    stand_in = not len(links.device_rows) and not len(links.launches)
    kernels, clipped = (
        (stand_in_table(ops), []) if stand_in else kernel_table(spans, links, launches, ops, origin)
    )
    stand_in = stand_in and len(kernels.name) > 0

    steps, numbers = find_steps(spans, end)
    zones, no_steps = find_regions(spans, end, steps)
    kernels = placed(kernels, spans, launches, ops, zones, steps, origin)
    launched_in = np.where(launches.timed, locate(steps, *_place(spans, launches.span)), -1)
    warnings = [
        *document.warnings,
        *columns.warnings,
        *_crossings(nesting.crossings),
        *link_warnings(spans, links, take(numbers, launched_in)),
        *clipped,
        *no_steps,
        *_about_the_device(document, links, stand_in),
    ]
    return Trace(
        document.path,
        Header(document.header),
        Tables(
            ops,
            launches,
            call_table(spans, call_spans, op_around, ops.span, origin),
            kernels,
            _region_table(spans, zones, steps, numbers, kernels, launches, ops, call_spans, origin),
            StepTable(numbers, steps.start - origin, steps.dur),
        ),
        spans.args,
        warnings,
        events=document.events.count,
        skipped_events=document.skipped,
        repaired_events=document.repaired,
        origin_ns=origin,
        span_ns=span,
        stand_in=stand_in,
        incomplete=_incomplete(warnings, links, stand_in),
    )


def _extent(spans: Spans) -> tuple[int, int]:
    """When the first event begins, in the recorder's clock, and the time from there to the last end."""
    if not spans.timed.any():
        return 0, 0
    first = int(spans.start[spans.timed].min())
    return first, int(spans.end[spans.timed].max()) - first


def _region_table(
    spans: Spans,
    zones: Zones,
    steps: Zones,
    numbers: Ints,
    kernels: KernelTable,
    launches: LaunchTable,
    ops: OpTable,
    call_spans: Ints,
    origin: int,
) -> RegionTable:
    of_launch = np.where(launches.timed, locate(zones, *_place(spans, launches.span)), -1)
    of_op = np.where(spans.timed[ops.span], locate(zones, *_place(spans, ops.span)), -1)
    return RegionTable(
        name=zones.name,
        start_ns=zones.start - origin,
        cpu_ns=zones.dur,
        parent=zones.parent,
        step=take(numbers, locate(steps, zones.start, zones.thread)),
        kernels=contents(zones, kernels.region),
        launches=contents(zones, of_launch),
        ops=contents(zones, of_op),
        calls=contents(zones, locate(zones, *_place(spans, call_spans))),
    )


def _place(spans: Spans, rows: Ints) -> tuple[Ints, Ints]:
    """When and on which thread each row begins."""
    return spans.start[rows], spans.thread[rows]


def _crossings(count: int) -> list[Warning]:
    text = "CPU spans that cross the end of the span around them, clamped to it for nesting"
    return [Warning("crossing-spans", count, None, text)] if count else []


def _about_the_device(document: Document, links: Links, stand_in: bool) -> list[Warning]:
    if not len(links.device_rows):
        launched = len(links.launches)
        text = "no GPU activity in this trace, and no compute ops"
        if stand_in:
            text = "no GPU work: the innermost compute ops stand in for kernels"
        elif launched:
            text = f"{launched} launches, but no GPU work in this trace"
        return [Warning("no-gpu", 1, None, text)]
    if Header(document.header).device_properties:
        return []
    text = "the header names no device: peaks and shares of them stay unknown"
    if not any(links.correlation):
        text += "; no event carries a correlation either, so links are few and analysis by kernel is limited"
    return [Warning("no-device-properties", 1, None, text)]


def _incomplete(warnings: list[Warning], links: Links, stand_in: bool) -> str | None:
    """Why no count of a trace may be trusted blindly: it was damaged, or there is nothing to count."""
    damage = [w for w in warnings if w.code in DAMAGE]
    if damage:
        return "; ".join(f"{w.code} ({w.count}, first at byte {w.offset}): {w.message}" for w in damage)
    if len(links.device_rows) or stand_in:
        return None
    return next(w.message for w in warnings if w.code == "no-gpu")
