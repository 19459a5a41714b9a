"""A diff in sentences: what changed, what stayed the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rung import names, units
from rung.insight.compare import Comparison, Fusion, rows_of, unfused
from rung.insight.findings.rules import graph_break, graph_launch, recompile, zero_kernel_ops
from rung.insight.forward import WorkRow
from rung.names.dtypes import dtype_of

SMALL = 0.05
"""Of the bytes that no longer go through memory, below which a tensor has no sentence of its own."""


def changed(diff: Comparison, *, times: bool = True) -> list[str]:
    """What B does otherwise than A, most telling first. `times=False` leaves out how long it took: for drawn
    traces, whose widths are not measured."""
    return [
        *other_work(diff),
        *_dtypes(diff),
        *_fusions(diff, times),
        *_round_trips(diff),
        *_appeared(diff, times),
        *_replaced(diff, times),
        *_counts(diff),
        *_graphs(diff),
        *_compiler(diff, times),
        *_dispatch(diff, times),
        *(_times(diff) if times else ()),
    ]


def unchanged(diff: Comparison, *, times: bool = True) -> list[str]:
    """What B does just as A."""
    found = _same_kernels(diff)
    if diff.a.launches == diff.b.launches and diff.a.launches:
        found.append(f"{units.count(diff.a.launches, 'launch')} a forward")
    if times and diff.a.gpu_busy_ns.meets(diff.b.gpu_busy_ns) and diff.a.gpu_busy_ns.median:
        found.append(f"GPU time, within its spread: {units.duration(diff.b.gpu_busy_ns.median)}")
    return found


def other_work(diff: Comparison) -> list[str]:
    """Matrix products that have no shape in common: A and B did not do the same work."""
    a, b = ({row.gemm for row in f.rows if row.gemm} for f in (diff.a, diff.b))
    if not a or not b or a & b or {g.flop for g in a} & {g.flop for g in b}:
        return []
    shown = [
        units.listing([f"[{g.m}, {g.k}] x [{g.k}, {g.n}]" for g in sorted(gemms, key=lambda g: -g.flop)[:3]])
        for gemms in (a, b)
    ]
    return [f"A and B do different work: matrix products of {shown[0]} against {shown[1]}"]


def _dtypes(diff: Comparison) -> list[str]:
    a, b = ({dtype_of(d) or d for r in f.rows if r.gemm for d in r.dtypes} for f in (diff.a, diff.b))
    return (
        [f"matrix products in {' and '.join(sorted(b))} instead of {' and '.join(sorted(a))}"]
        if a and b and a != b
        else []
    )


def _fusions(diff: Comparison, times: bool) -> list[str]:
    """A sentence for all fusions of the same ops: a model has one in each layer."""
    alike: dict[tuple[str, ...], list[Fusion]] = {}
    for fusion in diff.fused:
        alike.setdefault(fusion.sources, []).append(fusion)
    return [
        f"{units.listing(_grouped(sources))} became one kernel, {_others([f.into for f in fusions])}"
        f"{_often(len(fusions))}{_saved(fusions) if times else ''}"
        for sources, fusions in alike.items()
    ]


def _saved(fusions: list[Fusion]) -> str:
    """What it saved, and what the first trace alone let one expect."""
    measured = sum(fusion.measured_ns for fusion in fusions)
    guesses = [fusion.predicted.saved_ns for fusion in fusions]
    known = [ns for ns in guesses if ns is not None]
    said = f"{units.duration(abs(measured))} {'less' if measured >= 0 else 'more'}"
    predicted = f" ({units.duration(sum(known))} less predicted)" if len(known) == len(guesses) else ""
    return f": {said}{predicted}"


def _grouped(sources: tuple[str, ...]) -> list[str]:
    tally = Counter(sources)
    return [name if n == 1 else f"{n} x {name}" for name, n in tally.items()]


def _others(kernels: list[str]) -> str:
    more = len(set(kernels)) - 1
    return f"{kernels[0]} or {units.count(more, 'other')}" if more else kernels[0]


def _often(n: int) -> str:
    return f", {n} times a forward" if n > 1 else ""


def _round_trips(diff: Comparison) -> list[str]:
    """A sentence for each tensor, and one for all that are small beside the rest."""
    alike: dict[str, list[int]] = {}
    for t in diff.round_trips_removed:
        what = f"the {list(t.shape)} result of {t.between[0]}, {units.size(t.tensor_bytes)}"
        alike.setdefault(what, []).append(t.tensor_bytes)
    least = SMALL * sum(map(sum, alike.values()))
    small = {what: sizes for what, sizes in alike.items() if sum(sizes) < least}
    folded = small if len(small) > 1 else {}
    gone = "no longer written to memory and read back"
    said = [f"{what}, is {gone}{_often(len(n))}" for what, n in alike.items() if what not in folded]
    if folded:
        sizes = [size for group in folded.values() for size in group]
        said.append(f"{len(sizes)} smaller results, {units.size(sum(sizes))} in all, are {gone} either")
    return said


def _appeared(diff: Comparison, times: bool) -> list[str]:
    """Copies and memsets that A does without, with the kernel that follows them."""
    found: dict[tuple[str, str], list[WorkRow]] = {}
    following = _following(diff.b.rows)
    for row in rows_of(diff.b, diff.new):
        if row.category in ("copy", "memset"):
            moved = f" of {units.size(row.work.nbytes)}" if row.work.nbytes is not None else ""
            after = following[id(row)]
            where = f", before the {names.short(after.decoded)}" if after else ""
            found.setdefault((f"{names.short(row.decoded)}{moved}", where), []).append(row)
    return [f"new: {_told(what, rows, times)}{where}" for (what, where), rows in found.items()]


def _following(rows: Sequence[WorkRow]) -> dict[int, WorkRow | None]:
    """By the id of a row the next kernel behind it."""
    found: dict[int, WorkRow | None] = {}
    after = None
    for row in reversed(rows):
        found[id(row)] = after
        after = row if row.category == "kernel" else after
    return found


def _replaced(diff: Comparison, times: bool) -> list[str]:
    gone, new = unfused(diff)
    return [*_listed("gone", gone, times), *_listed("new", [row for row in new if _is_kernel(row)], times)]


def _listed(word: str, rows: list[WorkRow], times: bool) -> list[str]:
    alike: dict[str, list[WorkRow]] = {}
    for row in rows:
        by = f" of {row.op}" if row.op and row.op != row.name else ""
        alike.setdefault(f"{names.short(row.decoded)}{by}", []).append(row)
    return [f"{word}: {_told(what, group, times)}" for what, group in alike.items()]


def _told(what: str, rows: list[WorkRow], times: bool) -> str:
    """`memset of 4 B, 768 ns`; of several: `3 x memset of 4 B, 2.30 µs in all`."""
    several = len(rows) > 1
    took = f", {units.duration(sum(row.dur_ns.median for row in rows))}" if times else ""
    return f"{f'{len(rows)} x ' if several else ''}{what}{took}{' in all' if several and times else ''}"


def _is_kernel(row: WorkRow) -> bool:
    return row.category in ("kernel", "op")


def _counts(diff: Comparison) -> list[str]:
    found = []
    for noun in ("kernels", "copies", "memsets", "launches"):
        a, b = getattr(diff.a, noun), getattr(diff.b, noun)
        if a != b:
            found.append(f"{noun} a forward: {a} -> {b}")
    return found


def _graphs(diff: Comparison) -> list[str]:
    if any(row.graph for row in diff.a.rows) or not any(row.graph for row in diff.b.rows):
        return []
    return [graph_launch.sentence(diff.b)]


def _compiler(diff: Comparison, times: bool) -> list[str]:
    """Where B's compiled code is interrupted, and what was compiled again, more often than in A."""
    found = []
    a, b = (graph_break.breaks_in(f.example) for f in (diff.a, diff.b))
    if len(b) > len(a):
        said = f"the compiler was interrupted, {graph_break.sentence(diff.b.example)}"
        found.append(f"graph breaks a call: {len(a)} -> {len(b)}: {said}")
    again, before = (recompile.recompiles(f.example.trace) for f in (diff.b, diff.a))
    if len(again) > len(before):
        cost = f", {units.duration(sum(one.compile_ns for one in again))} in all" if times else ""
        shown = [str(one.instance.instance + 1) for one in again[:3]]
        shown += [f"{len(again) - 3} more"] if len(again) > 3 else []
        calls = f"call{'s' if len(again) > 1 else ''} {units.listing(shown)}"
        found.append(f"{units.count(len(again), 'recompilation')}{cost}: in {calls}")
    return found


def _dispatch(diff: Comparison, times: bool) -> list[str]:
    found = []
    if diff.b.pre_ops_ns and not diff.a.pre_ops_ns:
        cost = f": {units.duration(sum(diff.b.pre_ops_ns.values()))}" if times else ""
        found.append(f"every call now pays Dynamo's cache look-up, guards and a prologue{cost}")
    views_a, views_b = diff.a.launchless_ops, diff.b.launchless_ops
    gone = views_a.total() - views_b.total()
    if gone > 0:
        kinds = [name.removeprefix("aten::") for name in views_a if views_a[name] > views_b[name]]
        saved = zero_kernel_ops.spent_ns(diff.a) - zero_kernel_ops.spent_ns(diff.b)
        cost = f" ({units.duration(saved)} of CPU time)" if times and saved > 0 else ""
        said = f"ops that launch nothing are no longer dispatched: {units.listing(kinds)}"
        found.append(f"{gone} {said}{cost}")
    return found


def _times(diff: Comparison) -> list[str]:
    found = []
    for label, a, b in (
        ("GPU busy", diff.a.gpu_busy_ns, diff.b.gpu_busy_ns),
        ("CPU", diff.a.cpu_ns, diff.b.cpu_ns),
    ):
        if a.median and b.median and not a.meets(b):
            shown = f"{units.duration(a.median)} -> {units.duration(b.median)}"
            found.append(f"{label} a forward: {shown} ({units.change(a.median, b.median)})")
    return found


def _same_kernels(diff: Comparison) -> list[str]:
    """The common work by kind: `3 GEMMs, name for name`."""
    kinds: Counter[str] = Counter()
    for row in rows_of(diff.a, diff.same):
        kinds[row.kind] += 1
    found = []
    for kind, n in kinds.items():
        if kind in ("copy", "memset"):
            found.append(units.count(n, kind))
        else:
            noun = "GEMM" if kind == "gemm" else f"{kind} kernel"
            found.append(f"{'the ' if n > 1 else ''}{units.count(n, noun)}, name for name")
    return found
