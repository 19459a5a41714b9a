"""How much faster one kernel would be than the several it replaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rung import units
from rung.insight.flow import Flow
from rung.insight.opportunities.opportunity import Kind, Opportunity, Prediction
from rung.insight.opportunities.runs import base
from rung.insight.opportunities.setting import Setting
from rung.insight.sources import Passed

Estimate = tuple[int | None, str]


def opportunity(at: Setting, kind: Kind, what: str, rows: Sequence[int], who: str) -> Opportunity:
    """Some rows as one kernel, in one place."""
    them = [at.rows[row] for row in rows]
    return Opportunity(
        kind=kind,
        what=what,
        places=(tuple(rows),),
        ops=tuple([base(row.op) or row.name for row in them]),
        tensors=tuple([p.tensor for p in at.tensors.inside(rows)]),
        now_ns=sum([row.dur_ns.median for row in them]),
        prediction=as_one_kernel(at, rows),
        who=who,
    )


def unpriced(one: Opportunity, why: str) -> Opportunity:
    """The same with no time promised."""
    return replace(one, prediction=replace(one.prediction, saved_ns=None, assumption=why))


def as_one_kernel(at: Setting, rows: Sequence[int]) -> Prediction:
    """What rows of a forward save as one kernel, which keeps on the chip what they pass to one another.

    Matrix products keep their time, and the others ride in them: their time is saved but for what they read
    from outside, and for what they leave behind beyond what the products no longer write, at copy
    bandwidth. Without a product the kernel takes (bytes read from outside + bytes left behind) / copy
    bandwidth, and no less than the shortest of the rows: no kernel is free.

    Of what autograd keeps for the backward pass only products are left behind: the rest is computed there
    once more, from what the one kernel reads.
    """
    inside, them = at.tensors.inside(rows), at.rows
    riders = [row for row in rows if them[row].kind != "gemm"]
    products = set(rows) - set(riders)
    handed = {p.writer for p in inside} - at.tensors.needed_outside(rows, products)
    read_once = [*inside, *(again for _, again in at.tensors.shared(rows))]
    saved_bytes = sum([p.tensor.nbytes for p in read_once]) + sum(
        [_written(at.tensors, row) for row in handed]
    )
    if products:
        saved, assumption = _in_products(at, riders, inside, handed)
    else:
        saved, assumption = _one_mover(at, rows, saved_bytes)
    return Prediction(saved, saved_bytes, len(rows) - 1, assumption)


UNKNOWN: Estimate = (None, "the speed of this device's memory is not known")


def _in_products(at: Setting, riders: list[int], inside: list[Passed], handed: set[int]) -> Estimate:
    said, spared = "the GEMM takes no longer with the rest in it", sum(_times(at, riders))
    read = sum(t.nbytes for row in riders for t in at.tensors.reads[row])
    read -= sum(p.tensor.nbytes for p in inside if p.reader in riders)
    written = sum(_written(at.tensors, row) for row in riders if row not in handed)
    written -= sum(_written(at.tensors, row) for row in handed if row not in riders)
    moved = [(verb, n) for verb, n in (("reads", read), ("writes", written)) if n > 0]
    if not moved:
        return spared, said
    if at.memory is None:
        return UNKNOWN
    left = " and ".join(f"{verb} {units.size(n)}" for verb, n in moved)
    said = f"{said}, which still {left} at {at.memory.known}"
    return max(0, spared - at.memory.ns(sum(n for _, n in moved))), said


def _one_mover(at: Setting, rows: Sequence[int], saved_bytes: int) -> Estimate:
    if at.memory is None:
        return UNKNOWN
    times = _times(at, rows)
    moved = [_moved(at.tensors, row) for row in rows]
    if None in moved:  # only the round trips are known
        return min(at.memory.ns(saved_bytes), sum(times)), f"the round trips at {at.memory.known}"
    left = sum(n for n in moved if n is not None) - saved_bytes
    saved = sum(times) - max(at.memory.ns(left), min(times))
    return max(0, saved), f"one kernel that moves {units.size(left)} at {at.memory.known}"


def _times(at: Setting, rows: Sequence[int]) -> list[int]:
    them = at.rows
    return [them[row].dur_ns.median for row in rows]


def _written(tensors: Flow, row: int) -> int:
    written = tensors.writes[row]
    return written.nbytes if written is not None else 0


def _moved(tensors: Flow, row: int) -> int | None:
    written = tensors.writes[row]
    if written is None or not tensors.reads[row]:
        return None
    return sum(t.nbytes for t in tensors.reads[row]) + written.nbytes
