"""What changed between two recordings of the same work, and what stayed the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from itertools import groupby

from rung import names
from rung.insight.ceilings import ceiling_of
from rung.insight.forward import Forward, WorkRow
from rung.insight.merging import handed_on, merged_into
from rung.insight.opportunities import Prediction, as_one_kernel, setting
from rung.insight.roofline import roofline


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
    foretell = _foretelling(a)
    for runs, into in _replaced(a, b, gone, new):
        merged = max((merged_into(into, b, run, a) for run in runs), key=len)
        if len(merged) > 1:
            saved = sum(row.dur_ns.median for row in merged) - into.dur_ns.median
            fusions.append(Fusion(_sources(a, merged, into), into.name, saved, foretell(merged)))
            trips.extend(_round_trips(a, b, merged, into))
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


def _foretelling(a: Forward) -> Callable[[list[WorkRow]], Prediction]:
    """What rows of A would save as one kernel. The setting is made once, and only for what needs it."""
    at = cache(lambda: setting(roofline(a, ceiling_of(a.example.trace))))

    def foretell(rows: list[WorkRow]) -> Prediction:
        wanted = {id(row) for row in rows}
        return as_one_kernel(at(), [i for i, row in enumerate(a.rows) if id(row) in wanted])

    return foretell


def _in_order(forward: Forward, wanted: Counter[str]) -> tuple[str, ...]:
    return tuple(row.name for row in rows_of(forward, wanted.elements()))


def _replaced(
    a: Forward, b: Forward, gone: Counter[str], new: Counter[str]
) -> list[tuple[list[list[WorkRow]], WorkRow]]:
    """Runs of neighbouring gone kernels of A, with the one new kernel that stands in their place in B.

    Copies and memsets are set aside: they are not what a kernel replaces.
    """
    rows_a, rows_b = _from_the_first_difference(list(a.kernel_rows), list(b.kernel_rows))
    matcher = SequenceMatcher(None, [r.name for r in rows_a], [r.name for r in rows_b], autojunk=False)
    found = []
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        right = [r for r in rows_b[b0:b1] if new[r.name]]
        runs = [list(run) for is_gone, run in groupby(rows_a[a0:a1], lambda r: bool(gone[r.name])) if is_gone]
        if tag == "replace" and len(right) == 1 and runs:
            found.append((runs, right[0]))
    return found


def _from_the_first_difference(a: list[WorkRow], b: list[WorkRow]) -> tuple[list[WorkRow], list[WorkRow]]:
    """Matching takes the square of how often a name comes up: hours for 100,000 of one kernel, twice."""
    alike = next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x.name != y.name), min(len(a), len(b))
    )
    return a[alike:], b[alike:]


def _sources(a: Forward, rows: list[WorkRow], into: WorkRow) -> tuple[str, ...]:
    """The ops behind the replaced kernels, and the views that the new kernel's name says it took in."""
    ops = [row.op or row.name for row in rows]
    merged = into.decoded.fields.get("ops", [])
    views = [f"aten::{op}" for op in merged if f"aten::{op}" in a.launchless_ops]
    return (*views, *ops)


def _round_trips(a: Forward, b: Forward, merged: list[WorkRow], into: WorkRow) -> list[RoundTrip]:
    """What the merged kernels no longer pass through memory.

    A copy of that size inside the new kernel's op (`addmm` seeding its output with the bias) is a round trip
    in its place: nothing is saved.
    """
    if into.category == "op" and into.op in _SEEDED:
        return []
    seeded = {row.work.nbytes for row in b.rows if row.category == "copy" and row.path == into.path}
    trips = (RoundTrip(*trip) for trip in handed_on([a.work_of(row) for row in merged]).trips)
    written = "also_writes" in into.decoded.fields  # the products, kept for backward
    return [
        trip
        for trip in trips
        if trip.tensor_bytes not in seeded
        and not (written and names.decode_op(trip.between[0]).kind == "gemm")
    ]


_SEEDED = ("aten::addmm", "aten::baddbmm")
"""On a CPU these copy the bias into their output by an op of their own, inside the one that stands in."""
