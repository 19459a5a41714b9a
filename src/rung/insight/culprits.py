"""What changed between two recordings, each with how much longer (or shorter) it made a forward."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from rung import names, units
from rung.insight.compare import Comparison, rows_of, unfused
from rung.insight.findings.case import Case
from rung.insight.findings.compiled import REGION
from rung.insight.findings.cpu_side import in_ops_ns
from rung.insight.forward import WorkRow
from rung.insight.spread import Spread, spread
from rung.names.dtypes import dtype_of
from rung.trace import Region

T = TypeVar("T")
K = TypeVar("K")

Side = Literal["GPU", "CPU"]
What = Literal["another kernel", "fused", "new", "gone", "slower", "faster"]


@dataclass(frozen=True, slots=True)
class Culprit:
    """A change of one forward: median ns it adds (negative: saves).

    `sure` says whether it is more than the steps differ by among themselves; None where one step tells no
    spread. `before` and `after` are names of kernels, on the CPU of ops.
    """

    side: Side
    what: What
    title: str
    delta_ns: int
    sure: bool | None
    before: tuple[str, ...]
    after: tuple[str, ...]

    def __str__(self) -> str:
        sign = "+" if self.delta_ns >= 0 else "-"
        doubt = "" if self.sure else " (within the spread)" if self.sure is False else " (one step)"
        return f"{sign}{units.duration(abs(self.delta_ns))} {self.side} {self.title}{doubt}"


WORTH = 0.01
"""Share of the longer forward's wall time from which a change of the same kernel, or op, is listed."""


def on_the_gpu(found: Comparison) -> list[Culprit]:
    """Kernels that were replaced, fused, came, went, or run longer under the same name."""
    gone, new = unfused(found)
    pairs, gone, new = _paired(gone, new)
    return [
        *_fused(found),
        *_replaced(pairs, found),
        *_alone("new", new),
        *_alone("gone", gone),
        *_changed(found),
    ]


Pair = tuple[WorkRow, WorkRow]


def _paired(gone: list[WorkRow], new: list[WorkRow]) -> tuple[list[Pair], list[WorkRow], list[WorkRow]]:
    """Kernels of the same op for inputs of the same shapes; what is left of both."""
    waiting: defaultdict[object, deque[WorkRow]] = defaultdict(deque)
    for row in new:
        waiting[_job(row)].append(row)
    pairs = [(row, waiting[_job(row)].popleft()) for row in gone if row.op and waiting[_job(row)]]
    before, after = ({id(pair[side]) for pair in pairs} for side in (0, 1))
    return pairs, [row for row in gone if id(row) not in before], [row for row in new if id(row) not in after]


def _job(row: WorkRow) -> object:
    return row.op, row.kind, row.gemm or row.shapes


def _fused(found: Comparison) -> Iterator[Culprit]:
    sides = {row.name: _side(row) for row in found.b.rows}
    for sources, group in _grouped(found.fused, lambda one: one.sources).items():
        into = tuple(dict.fromkeys(one.into for one in group))
        yield Culprit(
            side=sides[into[0]],
            what="fused",
            title=f"{units.listing(list(dict.fromkeys(sources)))} in one kernel{_often(len(group))}: "
            f"{names.short(names.decode(into[0]))}",
            delta_ns=-sum(one.measured_ns for one in group),
            sure=True,
            before=sources,
            after=into,
        )


def _replaced(pairs: list[Pair], found: Comparison) -> Iterator[Culprit]:
    for group in _grouped(pairs, lambda pair: (_job(pair[0]), pair[0].name, pair[1].name)).values():
        (old, new), many = group[0], len(group)
        yield Culprit(
            side=_side(new),
            what="another kernel",
            title=f"{new.op}{_often(many)}: {names.short(new.decoded)}{_dtypes(new, old)} instead of "
            f"{names.short(old.decoded)}{_dtypes(old, new)}",
            delta_ns=sum(b.dur_ns.median - a.dur_ns.median for a, b in group),
            sure=_sure(found, _added([a for a, _ in group]), _added([b for _, b in group])),
            before=(old.name,),
            after=(new.name,),
        )


def _dtypes(row: WorkRow, other: WorkRow) -> str:
    """` in bf16`, where the other is in another dtype."""
    if row.dtypes == other.dtypes or not row.dtypes:
        return ""
    return f" in {units.listing([dtype_of(dtype) or dtype for dtype in row.dtypes])}"


def _alone(what: Literal["new", "gone"], rows: list[WorkRow]) -> Iterator[Culprit]:
    for group in _grouped(rows, lambda row: (row.name, row.op)).values():
        row, total = group[0], _added(group).median
        by = f" of {row.op}" if row.op and row.op != row.name else ""
        yield Culprit(
            side=_side(row),
            what=what,
            title=f"{what}{_often(len(group))}: {names.short(row.decoded)}{by}",
            delta_ns=total if what == "new" else -total,
            sure=True,
            before=() if what == "new" else (row.name,),
            after=(row.name,) if what == "new" else (),
        )


def _changed(found: Comparison) -> Iterator[Culprit]:
    """Kernels of the same name whose time, all together, differs by more than a little."""
    both = [_grouped(rows_of(f, found.same), lambda row: row.name) for f in (found.a, found.b)]
    least = WORTH * max(found.a.wall_ns.median, found.b.wall_ns.median)
    for name, rows in both[0].items():
        a, b = _added(rows), _added(both[1][name])
        delta = b.median - a.median
        if abs(delta) >= max(least, 1):
            word: What = "slower" if delta > 0 else "faster"
            yield Culprit(
                side=_side(rows[0]),
                what=word,
                title=f"{names.short(rows[0].decoded)}{_often(len(rows))} is {word}: "
                f"{units.duration(a.median)} -> {units.duration(b.median)}",
                delta_ns=delta,
                sure=_sure(found, a, b),
                before=(name,),
                after=(name,),
            )


def _side(row: WorkRow) -> Side:
    return "CPU" if row.category == "op" else "GPU"


def _added(rows: Sequence[WorkRow]) -> Spread:
    times = [row.dur_ns for row in rows]
    return Spread(sum(t.median for t in times), sum(t.low for t in times), sum(t.high for t in times))


def _sure(found: Comparison, a: Spread, b: Spread) -> bool | None:
    return None if min(found.a.alike, found.b.alike) < 2 else not a.meets(b)


def _often(n: int) -> str:
    return f" x{n}" if n > 1 else ""


def _grouped(items: Sequence[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    found: dict[K, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


OUTSIDE = "outside of ops"


def on_the_cpu(a: Case, b: Case) -> list[Culprit]:
    """Outermost ops that came, went or take longer, and the time outside of all; none where ops stand in for
    kernels, and are listed as such."""
    if a.trace.stand_in or b.trace.stand_in:
        return []
    times = [_of_ops(case) for case in (a, b)]
    least = max(WORTH * max(case.forwards[0].wall_ns.median for case in (a, b)), 1)
    steps = min(case.forwards[0].alike for case in (a, b))
    both = [(name, times[0].get(name), times[1].get(name)) for name in dict.fromkeys([*times[0], *times[1]])]
    found = [_of_op(name, before, after, steps) for name, before, after in both]
    return [one for one in found if abs(one.delta_ns) >= least]


def _of_ops(case: Case) -> dict[str, Spread]:
    """By name, how long the outermost ops of one forward take."""
    forward = case.forwards[0]
    spent = [_in_ops(region) for region in case.alike(forward)]
    return {
        name: spread(one.get(name, 0) for one in spent) for name in dict.fromkeys(n for s in spent for n in s)
    }


def _in_ops(region: Region) -> dict[str, int]:
    ops, found = region.trace.tables.ops, {OUTSIDE: max(region.cpu_ns - in_ops_ns(region), 0)}
    for row in region.ops.rows.tolist():
        name = REGION.sub("Torch-Compiled Region", ops.name[row])
        found[name] = found.get(name, 0) + int(ops.dur_ns[row])
    return found


def _of_op(name: str, before: Spread | None, after: Spread | None, steps: int) -> Culprit:
    delta = (after.median if after else 0) - (before.median if before else 0)
    what: What = "new" if before is None else "gone" if after is None else "slower" if delta > 0 else "faster"
    took = [units.duration(one.median) for one in (before, after) if one]
    sure = True if before is None or after is None else not before.meets(after) if steps > 1 else None
    return Culprit(
        side="CPU",
        what=what,
        title=f"{what}: {name}" if len(took) == 1 else f"{name}: {took[0]} -> {took[1]}",
        delta_ns=delta,
        sure=sure,
        before=() if before is None else (name,),
        after=() if after is None else (name,),
    )
