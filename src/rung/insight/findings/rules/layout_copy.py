"""Copies that only reorder a tensor's bytes, around matrix products, convolutions and attention."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from rung import names, units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.looking import spent_ns
from rung.insight.findings.rule import Rule
from rung.insight.forward import WorkRow
from rung.insight.roofline import Point, Roofline

NOUNS = {"gemm": "matrix products", "convolution": "convolutions", "attention": "attention"}
HEAVY = frozenset(NOUNS)
SHOWN = 3

REORDERING = ("aten::contiguous", "aten::reshape", "aten::clone", "aten::cat", "aten::_to_copy")
"""Ops that copy a tensor because its strides do not suit; `_to_copy` where the dtype stays."""

SEEDED = ("aten::addmm", "aten::baddbmm")
"""What these copy is their bias: hidden-copy."""


def find(case: Case) -> Iterator[Sighting]:
    for roof in case.rooflines:
        found = _layout_copies(roof)
        if found:
            yield _sighting(roof, found)


def _layout_copies(roof: Roofline) -> list[tuple[Point, str]]:
    """Each with the op that asks for it: all inside a heavy op, and runs of copies right beside one."""
    points = [(point, _cause(point.row)) for point in roof.points if point.row.category != "memset"]
    runs = [list(run) for _, run in groupby(points, key=lambda one: one[1] is None)]
    found: list[tuple[Point, str]] = []
    for i, run in enumerate(runs):
        beside = [
            *(other[-1] for other in runs[max(i - 1, 0) : i]),
            *(other[0] for other in runs[i + 1 : i + 2]),
        ]
        is_near = any(point.row.kind in HEAVY for point, _ in beside)
        found += [(point, cause) for point, cause in run if cause and (is_near or cause not in REORDERING)]
    return found


def _cause(row: WorkRow) -> str | None:
    """The op that copies for the sake of a layout, or the heavy op it does so in; None for any other work."""
    if not _is_copy(row) or len(row.dtypes) > 1 or not set(SEEDED).isdisjoint(row.path):
        return None
    if "aten::_to_copy" in row.path and not row.dtypes:
        return None  # it may be there for the dtype
    heavy = (op for op in row.path if names.decode_op(op).kind in HEAVY)
    return next(heavy, None) or next((op for op in row.path if op in REORDERING), None)


def _is_copy(row: WorkRow) -> bool:
    if row.category == "copy":
        return row.decoded.fields.get("direction") == "DtoD"
    return row.decoded.fields.get("functor") in ("copy", "cat")


def _sighting(roof: Roofline, found: Sequence[tuple[Point, str]]) -> Sighting:
    spent = spent_ns([point.row for point, _ in found])
    known = [point.nbytes for point, _ in found if point.nbytes is not None]
    moved = f"{'at least ' if len(known) < len(found) else ''}{units.size(sum(known))} in " if known else ""
    causes = Counter(cause for _, cause in found)
    by = [f"{cause}{f' x{n}' if n > 1 else ''}" for cause, n in causes.most_common(SHOWN)]
    more = [units.count(len(causes) - SHOWN, "other")] if len(causes) > SHOWN else []
    kinds = {point.row.kind for point in roof.points}
    beside = units.listing([noun for kind, noun in NOUNS.items() if kind in kinds])
    verb = "only rearranges a tensor" if len(found) == 1 else "only rearrange tensors"
    return Sighting(
        title=f"{units.count(len(found), 'copy')} beside {beside} {verb}, {moved}{units.duration(spent)}: "
        f"{units.listing(by + more)}",
        advice="Keep the layout the kernel wants from the start: memory_format=torch.channels_last for "
        "convolutions, q, k and v written where attention reads them, no .contiguous() before a matmul.",
        forward=roof.forward,
        cost_ns=spent,
        evidence={"copies": len(found), "bytes": sum(known) or None, "gpu_ns": spent, "by": dict(causes)},
    )


RULE = Rule(
    id="layout-copy",
    topic="data",
    shows="`aten::copy_`, `contiguous` or `CatArrayBatchedCopy` around matrix products.",
    means="A tensor is rewritten in another order, at the price of reading and writing all of it.",
    do="Keep one layout: channels_last, q, k, v as attention reads them, no `.contiguous()` before a GEMM.",
    find=find,
)
