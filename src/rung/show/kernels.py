"""The kernels of a forward as table rows: in order, or gathered by name where there are many."""

from __future__ import annotations

from collections.abc import Container, Sequence

from rich.table import Table

from rung import names, units
from rung.insight.forward import WorkRow
from rung.insight.spread import Spread
from rung.show.fitting import Column, Columns, table
from rung.show.plain import plain


def in_order(rows: Sequence[WorkRow], doubtful: Container[str] = ()) -> Columns:
    """One line a kernel, numbered; copies and memsets stand between them without a number.

    The times of kernels whose name is `doubtful` carry a `~`.
    """
    numbers = _numbers(rows)
    columns = (
        Column("#", [str(n) if n else "" for n in numbers], right=True),
        Column("op", [row.op or "" for row in rows]),
        Column("kernel", _descriptions(rows, numbers)),
        Column("launch", _launches(rows)),
        Column("shapes", [shapes(row) for row in rows]),
        Column("work", [work(row) for row in rows], right=True),
        Column("time", [_time(row, doubtful) for row in rows], right=True),
        Column("spread", [spread(row.dur_ns) for row in rows]),
        Column("rate", ["" if row.name in doubtful else rate(row) for row in rows], right=True),
    )
    return Columns(columns, [None if n else "dim" for n in numbers], ("shapes", "spread", "launch"))


def _numbers(rows: Sequence[WorkRow]) -> list[int]:
    """1, 2, 3 for kernels; 0 for copies and memsets."""
    kernels = iter(range(1, len(rows) + 1))
    return [next(kernels) if row.category in ("kernel", "op") else 0 for row in rows]


def _descriptions(rows: Sequence[WorkRow], numbers: Sequence[int]) -> list[str]:
    """In plain words; a kernel seen before is named by its number."""
    first: dict[str, int] = {}
    found = []
    for row, number in zip(rows, numbers, strict=True):
        seen = first.setdefault(row.name, number)
        found.append(names.short(row.decoded) if seen == number else f"same kernel as {seen}")
    return found


def _launches(rows: Sequence[WorkRow]) -> list[str]:
    """How each was launched, where some ask for their occupancy first and some do not."""
    if not any(row.occupancy_query for row in rows):
        return [""] * len(rows)
    return ["query + launch" if row.occupancy_query else "launch" for row in rows]


def _time(row: WorkRow, doubtful: Container[str]) -> str:
    return f"{'~' if row.name in doubtful else ''}{units.duration(row.dur_ns.median)}"


def gathered(rows: Sequence[WorkRow], limit: int = 20) -> Table:
    """One line a kernel name, dearest first, with how often it ran and its share of the GPU time."""
    groups: dict[str, list[WorkRow]] = {}
    for row in rows:
        groups.setdefault(row.name, []).append(row)
    total = sum(row.dur_ns.median for row in rows) or 1
    ranked = sorted(groups.values(), key=lambda g: -sum(row.dur_ns.median for row in g))
    made = table("times", "kernel", "kind", "op", "time in all", "share", right=(0, 4, 5))
    for group in ranked[:limit]:
        ops = sorted({row.op for row in group if row.op})
        op = ops[0] + (f" and {len(ops) - 1} more" if len(ops) > 1 else "") if ops else ""
        told = (names.short(group[0].decoded), group[0].kind, op)
        made.add_row(str(len(group)), *map(plain, told), *_spent(group, total))
    rest = [row for group in ranked[limit:] for row in group]
    if rest:
        made.add_row(str(len(rest)), f"{len(ranked) - limit} other names", "", "", *_spent(rest, total))
    return made


def _spent(rows: Sequence[WorkRow], total: int) -> tuple[str, str]:
    spent = sum(row.dur_ns.median for row in rows)
    return units.duration(spent), units.percent(spent / total)


def shapes(row: WorkRow) -> str:
    """`[8192, 768] x [768, 3072]` for a product, else the distinct input shapes."""
    if row.category not in ("kernel", "op"):
        return ""
    distinct = list(dict.fromkeys(str(list(s)) for s in row.shapes))
    if row.gemm:
        batch = f"{row.gemm.batch} x " if row.gemm.batch > 1 else ""
        return f"{batch}[{row.gemm.m}, {row.gemm.k}] x [{row.gemm.k}, {row.gemm.n}]"
    return " ".join(distinct[:2])


def work(row: WorkRow) -> str:
    if row.work.flop:
        return units.flop(row.work.flop)
    return units.size(row.work.nbytes) if row.work.nbytes else ""


def rate(row: WorkRow) -> str:
    if row.category == "memset":
        return ""
    if row.flop_per_s:
        return units.flop_rate(row.flop_per_s)
    return units.byte_rate(row.bytes_per_s) if row.bytes_per_s else ""


def spread(time: Spread) -> str:
    """`56.4-60.0`, only where the steps differ by more than a tenth."""
    return f"{units.duration(time.low)} - {units.duration(time.high)}" if time.is_wide else ""
