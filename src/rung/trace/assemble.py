"""Document -> columns -> links -> regions -> `Trace`: the way through this room, in order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rung.trace import columns as columns_
from rung.trace import regions as regions_
from rung.trace.clip import clip_overruns
from rung.trace.columns import Columns, Role, Spans
from rung.trace.document import Document
from rung.trace.linking import Links, link
from rung.trace.model import Header, Tables, Trace
from rung.trace.nesting import Nesting, nest
from rung.trace.standins import stand_ins
from rung.trace.tables import Ints, KernelTable, LaunchTable, OpTable, RegionTable, StepTable
from rung.trace.warnings import DAMAGE, Code, Warning

CATEGORY = {Role.KERNEL: "kernel", Role.COPY: "copy", Role.MEMSET: "memset"}


def assemble(document: Document) -> Trace:
    """Link a decoded document into a trace."""
    columns = columns_.build(document)
    spans = columns.spans
    origin = int(spans.start[spans.timed].min(initial=np.iinfo(np.int64).max)) if spans.timed.any() else 0
    span = int((spans.start + spans.dur)[spans.timed].max() - origin) if spans.timed.any() else 0
    nesting = _nest_cpu_side(spans)
    links = link(columns, nesting)
    warnings = [*document.warnings, *columns.warnings, *links.warnings]
    if nesting.crossings:
        text = "CPU spans that cross the end of the span around them, clamped to it for nesting"
        warnings.append(Warning("crossing-spans", nesting.crossings, None, text))

    ops = _ops(columns, nesting, origin)
    launches = _launches(spans, nesting, links, ops, origin)
    stand_in = not len(links.device_rows) and not len(links.launches)
    if stand_in:
        kernels = _stand_in_kernels(ops)
    else:
        kernels, clips = _kernels(spans, links, launches, ops, origin)
        warnings.extend(clips)
    steps, numbers = regions_.find_steps(spans)
    zones, no_steps = regions_.find_regions(spans, steps)
    warnings.extend(no_steps)
    kernels = _placed(spans, kernels, launches, ops, zones, steps, origin)
    regions = _regions(spans, zones, steps, numbers, kernels, launches, ops, origin)

    stand_in = stand_in and len(kernels.name) > 0
    warnings.extend(_about_the_device(document, links, stand_in))
    return Trace(
        document.path,
        Header(document.header),
        Tables(ops, launches, kernels, regions, StepTable(numbers, steps.start - origin, steps.end - steps.start)),
        spans.args,
        warnings,
        events=len(document.events),
        skipped_events=document.skipped,
        repaired_events=document.repaired,
        origin_ns=origin,
        span_ns=span,
        stand_in=stand_in,
        incomplete=_incomplete(warnings, links, stand_in),
    )


def _nest_cpu_side(spans: Spans) -> Nesting:
    """Nesting over all rows; rows that are not CPU-side spans get threads of their own, so nothing nests in them."""
    cpu = np.isin(spans.role, [Role.OP, Role.ANNOTATION, Role.FRAME, Role.CALL]) & spans.timed
    thread = np.where(cpu, spans.thread, -1)
    nested = nest(spans.start[cpu], (spans.start + spans.dur)[cpu], thread[cpu])
    rows = np.flatnonzero(cpu)
    parent = np.full(len(cpu), -1, dtype=np.int64)
    depth = np.zeros(len(cpu), dtype=np.int64)
    parent[rows] = np.where(nested.parent >= 0, rows[nested.parent], -1)
    depth[rows] = nested.depth
    return Nesting(parent, depth, nested.crossings)


def _ops(columns: Columns, nesting: Nesting, origin: int) -> OpTable:
    spans = columns.spans
    is_op = spans.role == Role.OP
    rows = np.flatnonzero(is_op)
    rows = rows[np.lexsort((nesting.depth[rows], spans.start[rows]))]
    index = _index(rows, len(spans.name))
    around = nesting.nearest(is_op)[rows]
    return OpTable(
        span=rows,
        name=[spans.name[i] for i in rows.tolist()],
        start_ns=np.where(spans.timed[rows], spans.start[rows] - origin, 0),
        dur_ns=spans.dur[rows],
        thread=[spans.threads[t] for t in spans.thread[rows].tolist()],
        parent=np.where(around >= 0, index[around], -1),
        forward=_forward_ops(columns, rows),
    )


def _forward_ops(columns: Columns, rows: Ints) -> Ints:
    """For each op of the backward pass the forward op its `fwdbwd` arrow comes from, as a row of the op table."""
    spans = columns.spans
    forward = np.full(len(rows), -1, dtype=np.int64)
    starts = {f.id: (f.thread, f.at) for f in columns.flow_starts if f.category == "fwdbwd"}
    if not starts:
        return forward
    place: dict[tuple[object, int], int] = {}
    for i, row in enumerate(rows.tolist()):
        place.setdefault((spans.threads[spans.thread[row]], int(spans.start[row])), i)
    for flow in columns.flow_ends:
        if flow.category == "fwdbwd" and flow.id in starts:
            source, target = place.get(starts[flow.id]), place.get((flow.thread, flow.at))
            if source is not None and target is not None:
                forward[target] = source
    return forward


def _launches(spans: Spans, nesting: Nesting, links: Links, ops: OpTable, origin: int) -> LaunchTable:
    rows = links.launches
    index = _index(ops.span, len(spans.name))
    op_around = nesting.nearest(spans.role == Role.OP)
    around = op_around[rows]
    has_kernel = np.isin(rows, links.launch[spans.role[links.device_rows] == Role.KERNEL])
    return LaunchTable(
        span=rows,
        name=[spans.name[i] for i in rows.tolist()],
        start_ns=spans.start[rows] - origin,
        dur_ns=spans.dur[rows],
        op=np.where(around >= 0, index[around], -1),
        graph=links.graph,
        occupancy_query=_occupancy_queries(spans, op_around, rows, has_kernel),
    )


def _occupancy_queries(
    spans: Spans, op_around: Ints, launches: Ints, has_kernel: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which kernel launches follow an occupancy query of the same op, with no other kernel launch between."""
    asked = np.zeros(len(launches), dtype=bool)
    queries = [i for i in spans.rows(Role.CALL).tolist() if "Occupancy" in spans.name[i]]
    if not queries:
        return asked
    order = {int(row): i for i, row in enumerate(launches.tolist()) if has_kernel[i]}
    pending: dict[int, int] = {}
    calls = sorted([*queries, *order], key=lambda row: int(spans.start[row]))
    for row in calls:
        thread = int(spans.thread[row])
        if row in order:
            query = pending.pop(thread, None)
            asked[order[row]] = query is not None and op_around[query] == op_around[row]
        else:
            pending[thread] = row
    return asked


def _kernels(
    spans: Spans, links: Links, launches: LaunchTable, ops: OpTable, origin: int
) -> tuple[KernelTable, list[Warning]]:
    order = np.lexsort((spans.start[links.device_rows], ~spans.timed[links.device_rows]))
    rows = links.device_rows[order]
    timed = spans.timed[rows]
    start = np.where(timed, spans.start[rows] - origin, 0)
    stream = [links.stream[i] for i in order.tolist()]
    device = [links.device[i] for i in order.tolist()]
    lanes: dict[tuple[object, object], int] = {}
    lane = np.array([lanes.setdefault(key, len(lanes)) for key in zip(device, stream, strict=True)], dtype=np.int64)
    dur, warnings = clip_overruns(start, np.where(timed, spans.dur[rows], 0), lane, timed)
    launch_index, op_index = _index(launches.span, len(spans.name)), _index(ops.span, len(spans.name))
    launch = np.where(links.launch[order] >= 0, launch_index[links.launch[order]], -1)
    by_flow = np.where(links.op[order] >= 0, op_index[links.op[order]], -1)
    none = np.full(len(rows), -1, dtype=np.int64)
    table = KernelTable(
        span=rows,
        name=[spans.name[i] for i in rows.tolist()],
        category=[CATEGORY[Role(int(spans.role[i]))] for i in rows.tolist()],
        start_ns=start,
        dur_ns=dur,
        raw_dur_ns=np.where(spans.raw_dur[rows] == np.iinfo(np.int64).min, 0, spans.raw_dur[rows]),
        timed=timed,
        device=device,
        stream=stream,
        correlation=[links.correlation[i] for i in order.tolist()],
        launch=launch,
        op=np.where(launch >= 0, launches.op[launch], by_flow) if len(launches.op) else by_flow,
        region=none,
        step=none,
    )
    return table, warnings


def _stand_in_kernels(ops: OpTable) -> KernelTable:
    rows = stand_ins(ops.name, ops.parent)
    none = np.full(len(rows), -1, dtype=np.int64)
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
        launch=none,
        op=rows,
        region=none,
        step=none,
    )


def _placed(
    spans: Spans,
    kernels: KernelTable,
    launches: LaunchTable,
    ops: OpTable,
    zones: regions_.Zones,
    steps: regions_.Zones,
    origin: int,
) -> KernelTable:
    """The kernels with region and step: by their launch (or op), by their own time where unlinked."""
    cause = np.where(kernels.op >= 0, _at(ops.span, kernels.op), -1)
    cause = np.where(kernels.launch >= 0, _at(launches.span, kernels.launch), cause)
    at = np.where(cause >= 0, spans.start[cause], kernels.start_ns + origin)
    thread = np.where(cause >= 0, spans.thread[cause], -2)
    lost = (cause < 0) & ~kernels.timed
    region = np.where(lost, -1, regions_.locate(zones, at, thread))
    step = np.where(lost, -1, regions_.locate(steps, at, thread))
    fields = {name: getattr(kernels, name) for name in KernelTable.__dataclass_fields__}
    return KernelTable(**fields | {"region": region, "step": step})


def _regions(
    spans: Spans,
    zones: regions_.Zones,
    steps: regions_.Zones,
    numbers: Ints,
    kernels: KernelTable,
    launches: LaunchTable,
    ops: OpTable,
    origin: int,
) -> RegionTable:
    step = regions_.locate(steps, zones.start, zones.thread)
    of_launch = regions_.locate(zones, spans.start[launches.span], spans.thread[launches.span])
    of_op = regions_.locate(zones, spans.start[ops.span], spans.thread[ops.span])
    kernel_items, kernel_offsets = regions_.members(zones, kernels.region)
    launch_items, launch_offsets = regions_.members(zones, of_launch)
    op_items, op_offsets = regions_.members(zones, of_op)
    return RegionTable(
        name=zones.name,
        start_ns=zones.start - origin,
        cpu_ns=zones.end - zones.start,
        parent=zones.parent,
        step=np.where(step >= 0, _at(numbers, step), -1),
        kernel_items=kernel_items,
        kernel_offsets=kernel_offsets,
        launch_items=launch_items,
        launch_offsets=launch_offsets,
        op_items=op_items,
        op_offsets=op_offsets,
    )


def _about_the_device(document: Document, links: Links, stand_in: bool) -> list[Warning]:
    found: list[Warning] = []
    if not len(links.device_rows):
        launched = len(links.launches)
        text = (
            "no GPU work: the innermost compute ops stand in for kernels"
            if stand_in
            else f"{launched} launches, but no GPU work in this trace"
            if launched
            else "no GPU activity in this trace, and no compute ops"
        )
        found.append(Warning("no-gpu", 1, None, text))
    elif not Header(document.header).device_properties:
        text = "the header names no device: peaks and shares of them stay unknown"
        found.append(Warning("no-device-properties", 1, None, text))
    return found


def _incomplete(warnings: list[Warning], links: Links, stand_in: bool) -> str | None:
    codes: dict[Code, Warning] = {w.code: w for w in warnings}
    damage = [w for code, w in codes.items() if code in DAMAGE]
    if damage:
        return "; ".join(f"{w.code}: {w.message} ({w.count})" for w in damage)
    if not len(links.device_rows) and not stand_in:
        return codes["no-gpu"].message
    return None


def _index(rows: Ints, size: int) -> Ints:
    """The inverse of a list of rows: where each row stands in it, -1 if it does not."""
    index = np.full(size + 1, -1, dtype=np.int64)
    index[rows] = np.arange(len(rows))
    return index


def _at(values: Ints, rows: Ints) -> Ints:
    """`values[rows]`, with anything at all where a row is -1, also when there are no values."""
    return values[rows] if len(values) else np.full(len(rows), -1, dtype=np.int64)
