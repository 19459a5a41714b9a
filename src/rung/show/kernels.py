"""The kernels of a forward as table rows: in order, or gathered by name where there are many."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from rung import names, units
from rung.insight.forward import WorkRow
from rung.insight.spread import Spread


def table(*headings: str, right: Sequence[int] = (), title: str | None = None) -> Table:
    """A bare table: no lines, headings dim, numbers flush right."""
    made = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0), title=title, title_justify="left")
    for i, heading in enumerate(headings):
        made.add_column(heading, justify="right" if i in right else "left", no_wrap=i in right)
    return made


def in_order(rows: Sequence[WorkRow]) -> Table:
    """One line a kernel, numbered; copies and memsets stand between them without a number."""
    made = table("#", "op", "kernel", "shapes", "work", "time", "spread", "rate", right=(0, 4, 5, 7))
    first_seen: dict[str, int] = {}
    number = 0
    for row in rows:
        is_kernel = row.category in ("kernel", "op")
        number += is_kernel
        seen = first_seen.setdefault(row.name, number) if is_kernel else number
        what = names.short(row.decoded) if seen == number else f"same kernel as {seen}"
        made.add_row(
            str(number) if is_kernel else "",
            row.op or "",
            f"{what}{', after an occupancy query' if row.occupancy_query else ''}",
            shapes(row),
            work(row),
            units.duration(row.dur_ns.median),
            spread(row.dur_ns),
            rate(row),
            style=None if is_kernel else "dim",
        )
    return made


def gathered(rows: Sequence[WorkRow], limit: int = 20) -> Table:
    """One line a kernel name, dearest first, with how often it ran and its share of the GPU time."""
    groups: dict[str, list[WorkRow]] = {}
    for row in rows:
        groups.setdefault(row.name, []).append(row)
    total = sum(row.dur_ns.median for row in rows) or 1
    ranked = sorted(groups.values(), key=lambda g: -sum(row.dur_ns.median for row in g))
    made = table("times", "kernel", "kind", "op", "time in all", "share", right=(0, 4, 5))
    for group in ranked[:limit]:
        spent = sum(row.dur_ns.median for row in group)
        ops = sorted({row.op for row in group if row.op})
        made.add_row(
            str(len(group)),
            names.short(group[0].decoded),
            group[0].kind,
            ops[0] + (f" and {len(ops) - 1} more" if len(ops) > 1 else "") if ops else "",
            units.duration(spent),
            units.percent(spent / total),
        )
    return made


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
