"""Copies and memsets nobody wrote, right before a GEMM."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rung import units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.looking import grouped_by_op, spent_ns
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward, WorkRow

LIBRARY = ("gemm", "convolution", "attention")


def find(case: Case) -> Iterator[Sighting]:
    for forward in case.forwards:
        memsets = _library_memsets(forward)
        if memsets:
            yield _of_memsets(forward, memsets)
        copies = _seeded(forward)
        if copies:
            yield _of_copies(forward, copies)


def _library_memsets(forward: Forward) -> list[tuple[WorkRow, WorkRow]]:
    """Memsets with the kernel behind them, where one op launched both. A replayed graph does not tell."""
    ops = forward.example.trace.tables.kernels.op[forward.example.work.rows].tolist()
    pairs = zip(forward.rows, forward.rows[1:], ops, ops[1:], strict=False)
    return [
        (row, after)
        for row, after, op, op_after in pairs
        if row.category == "memset" and after.kind in LIBRARY and op == op_after >= 0 and not row.graph
    ]


def _of_memsets(forward: Forward, pairs: Sequence[tuple[WorkRow, WorkRow]]) -> Sighting:
    rows = [row for row, _ in pairs]
    spent = spent_ns(rows)
    sizes = {row.work.nbytes for row in rows}
    several = len(rows) > 1
    size = units.size(nbytes) if len(sizes) == 1 and (nbytes := sizes.pop()) is not None else ""
    told = ", ".join(filter(None, [f"{size} each" if size and several else size, units.duration(spent)]))
    whose = "the GEMM library" if all(after.kind == "gemm" for _, after in pairs) else "the library"
    title = (
        f"{len(rows)} memsets ({told} in all) belong to {whose}, right before its kernels"
        if several
        else f"a memset ({told}) belongs to {whose}, right before its kernel"
    )
    return Sighting(
        title=title,
        advice="A CUDA graph replays it without a launch of its own; a shape for which the library picks "
        "another kernel may do without.",
        forward=forward,
        cost_ns=spent,
        evidence=_evidence(rows, spent) | {"kernels": list(dict.fromkeys(after.name for _, after in pairs))},
    )


def _seeded(forward: Forward) -> list[WorkRow]:
    """Copies that an op which adds to a matrix product runs before it: say what is seen, not more."""
    found = []
    for group in grouped_by_op(forward, "aten::addmm", "aten::baddbmm"):
        gemm = next((i for i, row in enumerate(group) if row.kind == "gemm"), 0)
        found += [row for row in group[:gemm] if _copies(row)]
    return found


def _copies(row: WorkRow) -> bool:
    on_device = row.category == "copy" and row.decoded.fields.get("direction", "DtoD") == "DtoD"
    return on_device or (row.category == "kernel" and row.decoded.fields.get("functor") == "copy")


def _of_copies(forward: Forward, rows: Sequence[WorkRow]) -> Sighting:
    spent = spent_ns(rows)
    moved = sum(row.work.nbytes or 0 for row in rows if row.category == "copy")
    op = next(name for name in reversed(rows[0].path) if name in ("aten::addmm", "aten::baddbmm"))
    what = f"{units.size(moved)} are" if moved else "a tensor of unrecorded size is"
    times = f" {len(rows)} times" if len(rows) > 1 else ""
    return Sighting(
        title=f"inside {op} {what} copied on the device before the GEMM{times}, {units.duration(spent)}: "
        "it looks like the bias copied into the output and accumulated onto, not an epilogue that reads it",
        advice="Weigh it against the add it stands for; a bias with one dimension, as nn.Linear has, "
        "rides in the epilogue and needs no copy.",
        forward=forward,
        cost_ns=spent,
        evidence=_evidence(rows, spent) | {"op": op},
    )


def _evidence(rows: Sequence[WorkRow], spent: int) -> dict[str, object]:
    return {"count": len(rows), "bytes": [row.work.nbytes for row in rows], "gpu_ns": spent}


RULE = Rule(
    id="hidden-copy",
    topic="kernels",
    shows="A device-to-device copy or a memset that nobody wrote, right before a GEMM.",
    means="The library seeds the output with the bias, or clears a workspace (split-K, counters).",
    do="A CUDA graph saves its launch; a bias with one dimension needs no copy.",
    find=find,
    explains=True,
)
