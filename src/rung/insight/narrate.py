"""A diff in sentences: what changed, what stayed the same."""

from __future__ import annotations

from collections import Counter

from rung import names, units
from rung.insight.compare import Diff, Fusion
from rung.insight.forward import Forward, WorkRow
from rung.insight.spread import Spread


def changed(diff: Diff, *, times: bool = True) -> list[str]:
    """What B does otherwise than A, most telling first. `times=False` leaves out how long it took: for drawn
    traces, whose widths are not measured."""
    return [
        *(_fusion(fusion) for fusion in diff.fused),
        *(
            f"the {list(t.shape)} result of {t.between[0]}, {units.size(t.tensor_bytes)}, "
            "is no longer written to memory and read back"
            for t in diff.round_trips_removed
        ),
        *_appeared(diff),
        *_replaced(diff),
        *_counts(diff),
        *_graphs(diff),
        *_dispatch(diff, times),
        *(_times(diff) if times else ()),
    ]


def unchanged(diff: Diff, *, times: bool = True) -> list[str]:
    """What B does just as A."""
    found = _same_kernels(diff)
    if diff.a.launches == diff.b.launches and diff.a.launches:
        found.append(f"{units.count(diff.a.launches, 'launch')} a forward")
    if times and _overlap(diff.a.gpu_busy_ns, diff.b.gpu_busy_ns) and diff.a.gpu_busy_ns.median:
        found.append(f"GPU time, within its spread: {units.duration(diff.b.gpu_busy_ns.median)}")
    return found


def _fusion(fusion: Fusion) -> str:
    return f"{units.listing(_grouped(fusion.sources))} became one kernel, {fusion.into}"


def _grouped(sources: tuple[str, ...]) -> list[str]:
    tally = Counter(sources)
    return [name if n == 1 else f"{n} x {name}" for name, n in tally.items()]


def _appeared(diff: Diff) -> list[str]:
    """Copies and memsets that A does without, with the kernel that follows them."""
    found = []
    left = Counter(diff.new)
    rows = diff.b.rows
    for i, row in enumerate(rows):
        if row.category in ("copy", "memset") and left[row.name]:
            left[row.name] -= 1
            moved = f" of {units.size(row.work.nbytes)}" if row.work.nbytes is not None else ""
            after = next((r for r in rows[i + 1 :] if r.category == "kernel"), None)
            where = f", before the {names.short(after.decoded)}" if after else ""
            what = names.short(row.decoded)
            found.append(f"new: {what}{moved}, {units.duration(row.dur_ns.median)}{where}")
    return found


def _replaced(diff: Diff) -> list[str]:
    """Kernels that went or came without being part of a fusion."""
    into = {fusion.into for fusion in diff.fused}
    new = [n for n in diff.new if n not in into and _is_kernel(diff.b, n)]
    fused_away = Counter(n for f in diff.fused for n in f.sources)
    gone = []
    for name in diff.gone:
        row = _row(diff.a, name)
        if fused_away[row.op or row.name]:
            fused_away[row.op or row.name] -= 1
        else:
            gone.append(f"gone: {_described(row)}")
    return [*gone, *(f"new: {_described(_row(diff.b, name))}" for name in new)]


def _is_kernel(forward: Forward, name: str) -> bool:
    return _row(forward, name).category in ("kernel", "op")


def _row(forward: Forward, name: str) -> WorkRow:
    return next(row for row in forward.rows if row.name == name)


def _described(row: WorkRow) -> str:
    by = f" of {row.op}" if row.op and row.op != row.name else ""
    return f"{names.short(row.decoded)}{by}, {units.duration(row.dur_ns.median)}"


def _counts(diff: Diff) -> list[str]:
    found = []
    for noun in ("kernels", "copies", "memsets", "launches"):
        a, b = getattr(diff.a, noun), getattr(diff.b, noun)
        if a != b:
            found.append(f"{noun} a forward: {a} -> {b}")
    return found


def _graphs(diff: Diff) -> list[str]:
    replayed = [row for row in diff.b.rows if row.graph]
    if not replayed or any(row.graph for row in diff.a.rows):
        return []
    return [f"{replayed[0].launch} replays {units.count(len(replayed), 'piece')} of work with one launch"]


def _dispatch(diff: Diff, times: bool) -> list[str]:
    found = []
    if diff.b.pre_ops_ns and not diff.a.pre_ops_ns:
        cost = f": {units.duration(sum(diff.b.pre_ops_ns.values()))}" if times else ""
        found.append(f"every call now pays Dynamo's cache look-up, guards and a prologue{cost}")
    views_a, views_b = diff.a.launchless_ops, diff.b.launchless_ops
    gone = views_a.total() - views_b.total()
    if gone > 0:
        kinds = [name.removeprefix("aten::") for name in views_a if views_a[name] > views_b[name]]
        found.append(f"{gone} ops that launch nothing are no longer dispatched: {units.listing(kinds)}")
    return found


def _times(diff: Diff) -> list[str]:
    found = []
    for label, a, b in (
        ("GPU busy", diff.a.gpu_busy_ns, diff.b.gpu_busy_ns),
        ("CPU", diff.a.cpu_ns, diff.b.cpu_ns),
    ):
        if a.median and b.median and not _overlap(a, b):
            shown = f"{units.duration(a.median)} -> {units.duration(b.median)}"
            found.append(f"{label} a forward: {shown} ({units.change(a.median, b.median)})")
    return found


def _overlap(a: Spread, b: Spread) -> bool:
    return a.low <= b.high and b.low <= a.high


def _same_kernels(diff: Diff) -> list[str]:
    """The common work by kind: `3 GEMMs, name for name`."""
    kinds: Counter[str] = Counter()
    for name in diff.same:
        kinds[_row(diff.a, name).kind] += 1
    found = []
    for kind, n in kinds.items():
        if kind in ("copy", "memset"):
            found.append(units.count(n, kind))
        else:
            noun = "GEMM" if kind == "gemm" else f"{kind} kernel"
            found.append(f"{'the ' if n > 1 else ''}{units.count(n, noun)}, name for name")
    return found
