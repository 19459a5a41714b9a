"""Products of one input that could be one: separate q, k and v."""

from __future__ import annotations

from collections.abc import Iterator

from rung import units
from rung.insight.forward import WorkRow
from rung.insight.opportunities.opportunity import Opportunity, Prediction
from rung.insight.opportunities.runs import base, runs
from rung.insight.opportunities.setting import Setting
from rung.insight.tensors import Tensor


def projections(at: Setting, taken: frozenset[int]) -> Iterator[Opportunity]:
    """Each run of three products or more that read one input; `taken` rows belong to something better."""
    for run in runs(at.forward, _is_product):
        for group in _same_input(at, [i for i in run if i not in taken]):
            yield _opportunity(at, group)


LEAST = 3
"""Two products of one size also stand in a backward pass, one input each; three are q, k and v."""


def _is_product(row: WorkRow) -> bool:
    return row.gemm is not None and row.gemm.batch == 1 and row.category in ("kernel", "op")


def _same_input(at: Setting, rows: list[int]) -> Iterator[list[int]]:
    """Neighbours of one m and k of which all but the first find their input read before."""
    group: list[int] = []
    for row in rows:
        if group and _shares(at, group[0], row):
            group.append(row)
            continue
        if len(group) >= LEAST:
            yield group
        group = [row]
    if len(group) >= LEAST:
        yield group


def _shares(at: Setting, first: int, row: int) -> bool:
    a, b = at.rows[first].gemm, at.rows[row].gemm
    fresh = any(not p.again for p in at.tensors.received[row])
    return a is not None and b is not None and (a.m, a.k) == (b.m, b.k) and not fresh


def _opportunity(at: Setting, group: list[int]) -> Opportunity:
    rows = [at.rows[i] for i in group]
    times = [row.dur_ns.median for row in rows]
    flop = sum(row.gemm.flop for row in rows if row.gemm)
    fastest = max((row.flop_per_s or 0.0) for row in rows)
    together = round(flop / fastest * 1e9) if fastest else sum(times)
    first = at.rows[group[0]].gemm
    shared = next((t for t in at.tensors.reads[group[0]] if first and t.numel == first.m * first.k), None)
    width = sum(row.gemm.n for row in rows if row.gemm)
    return Opportunity(
        kind="projections",
        what="q, k and v" if len(group) == LEAST else "",
        places=(tuple(group),),
        ops=tuple(base(row.op) or row.name for row in rows),
        tensors=(shared,) if shared else (),
        now_ns=sum(times),
        prediction=Prediction(
            saved_ns=max(0, sum(times) - together),
            saved_bytes=_saved(shared, len(group)),
            saved_launches=len(group) - 1,
            assumption=f"one product of N = {width} at the fastest one's rate, {units.flop_rate(fastest)}",
        ),
        who="one nn.Linear whose weight holds theirs, row below row",
    )


def _saved(shared: Tensor | None, readers: int) -> int:
    return shared.nbytes * (readers - 1) if shared else 0
