"""What changed between two recordings of the same work, and what stayed the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby, pairwise

from rung import names
from rung.insight.aligning import matched
from rung.insight.ceilings import ceiling_of
from rung.insight.forward import Forward, WorkRow
from rung.insight.merging import taken_in
from rung.insight.opportunities import Prediction, Setting, as_one_kernel, setting
from rung.insight.opportunities.runs import kernels
from rung.insight.roofline import roofline
from rung.insight.sources import Passed


@dataclass(frozen=True, slots=True)
class Fusion:
    """Work of A that one kernel of B does: the ops (kernels, where no op is known), the kernel's name.

    `measured_ns` is what it saves: the median times of the kernels it replaces less its own. `predicted` is
    what A alone lets one expect.
    """

    sources: tuple[str, ...]
    into: str
    measured_ns: int
    predicted: Prediction


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """A tensor that A writes to memory between two ops and reads back, and B does not."""

    tensor_bytes: int
    shape: tuple[int, ...]
    between: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A against B, one typical forward each. Lists of names hold a name once for each kernel of a forward."""

    a: Forward
    b: Forward
    same: tuple[str, ...]
    gone: tuple[str, ...]
    new: tuple[str, ...]
    fused: tuple[Fusion, ...]
    round_trips_removed: tuple[RoundTrip, ...]


def compare(a: Forward, b: Forward) -> Comparison:
    """Compare two forwards."""
    names_a, names_b = Counter(r.name for r in a.rows), Counter(r.name for r in b.rows)
    same, gone, new = names_a & names_b, names_a - names_b, names_b - names_a
    fusions: list[Fusion] = []
    trips: list[RoundTrip] = []
    before = cache(lambda: setting(roofline(a, ceiling_of(a.example.trace))))  # only for what needs it
    seeds = _seeds(b)
    for runs, into in _replaced(a, b, gone, new):
        taken = max((taken_in(b, into, a, run, lambda: before().tensors) for run in runs), key=len)
        if len(taken) > 1:
            fusions.append(_fusion(before(), taken, b.rows[into]))
            trips.extend(_round_trips(before(), taken, b.rows[into], seeds))
    return Comparison(
        a,
        b,
        _in_order(a, same),
        _in_order(a, gone),
        _in_order(b, new),
        tuple(fusions),
        tuple(trips),
    )


def rows_of(forward: Forward, wanted: Iterable[str]) -> list[WorkRow]:
    """The first rows of these names, each as often as it is wanted."""
    left = Counter(wanted)
    found = []
    for row in forward.rows:
        if left[row.name]:
            left[row.name] -= 1
            found.append(row)
    return found


def unfused(found: Comparison) -> tuple[list[WorkRow], list[WorkRow]]:
    """Work of A that went, and work of B that came, without being part of a fusion."""
    sources = Counter(op for fusion in found.fused for op in fusion.sources)
    into = Counter(fusion.into for fusion in found.fused)
    gone = [(row.op or row.name, row) for row in rows_of(found.a, found.gone)]
    new = [(row.name, row) for row in rows_of(found.b, found.new)]
    return _without(sources, gone), _without(into, new)


def _without(known: Counter[str], rows: list[tuple[str, WorkRow]]) -> list[WorkRow]:
    """The rows that are left when each known key has taken as many of its kernels as it counts."""
    left = []
    for key, row in rows:
        if known[key] and row.category in ("kernel", "op"):
            known[key] -= 1
        else:
            left.append(row)
    return left


def _in_order(forward: Forward, wanted: Counter[str]) -> tuple[str, ...]:
    return tuple(row.name for row in rows_of(forward, wanted.elements()))


def _replaced(
    a: Forward, b: Forward, gone: Counter[str], new: Counter[str]
) -> Iterator[tuple[list[list[int]], int]]:
    """Runs of neighbouring gone kernels of A, with the one new kernel that stands in their place in B, as
    rows.

    Copies and memsets are set aside: they are not what a kernel replaces.
    """
    rows_a, rows_b = kernels(a), kernels(b)
    pairs = matched([a.rows[i].name for i in rows_a], [b.rows[i].name for i in rows_b])
    for (a0, b0), (a1, b1) in pairwise([(-1, -1), *pairs, (len(rows_a), len(rows_b))]):
        left, right = rows_a[a0 + 1 : a1], [i for i in rows_b[b0 + 1 : b1] if new[b.rows[i].name]]
        runs = [list(run) for is_gone, run in groupby(left, lambda i: bool(gone[a.rows[i].name])) if is_gone]
        if len(right) == 1 and runs:
            yield runs, right[0]


def _fusion(before: Setting, taken: Sequence[int], into: WorkRow) -> Fusion:
    saved = sum(before.rows[i].dur_ns.median for i in taken) - into.dur_ns.median
    sources = _sources(before.forward, taken, into)
    return Fusion(sources, into.name, saved, as_one_kernel(before, taken))


def _sources(a: Forward, taken: Sequence[int], into: WorkRow) -> tuple[str, ...]:
    """The ops behind the replaced kernels, and the views that the new kernel's name says it took in."""
    ops = [a.rows[i].op or a.rows[i].name for i in taken]
    merged = into.decoded.fields.get("ops", [])
    views = [f"aten::{op}" for op in merged if f"aten::{op}" in a.launchless_ops]
    return (*views, *ops)


Seeds = dict[tuple[str, ...], set[int | None]]


def _seeds(b: Forward) -> Seeds:
    """The bytes of copies by the ops around them: `addmm` seeds its output with the bias."""
    found: Seeds = {}
    for row in b.rows:
        if row.category == "copy":
            found.setdefault(row.path, set()).add(row.work.nbytes)
    return found


def _round_trips(before: Setting, taken: Sequence[int], into: WorkRow, seeds: Seeds) -> list[RoundTrip]:
    """What the kernels of A that were taken in no longer pass through memory.

    A copy of that size inside the new kernel's op is a round trip in its place: nothing is saved.
    """
    if into.category == "op" and into.op in _SEEDED:
        return []
    trips = [_round_trip(before, one) for one in before.tensors.handed_on(taken)]
    written = "also_writes" in into.decoded.fields  # the products, kept for backward
    return [
        trip
        for trip in trips
        if trip.tensor_bytes not in seeds.get(into.path, ())
        and not (written and names.decode_op(trip.between[0]).kind == "gemm")
    ]


def _round_trip(before: Setting, one: Passed) -> RoundTrip:
    result = before.tensors.writes[one.writer] or one.tensor
    writer, reader = (before.rows[i].op or before.rows[i].name for i in (one.writer, one.reader))
    return RoundTrip(result.nbytes, result.shape, (writer, reader))


_SEEDED = ("aten::addmm", "aten::baddbmm")
"""On a CPU these copy the bias into their output by an op of their own, inside the one that stands in."""
