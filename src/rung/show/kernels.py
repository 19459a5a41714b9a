"""The kernels of a forward as table rows: in order, or gathered by name where there are many."""

from __future__ import annotations

from collections.abc import Container, Sequence

from rich.table import Table

from rung import names, units
from rung.insight.forward import WorkRow
from rung.insight.spread import Spread


def table(*headings: str, right: Sequence[int] = (), title: str | None = None) -> Table:
    """A bare table: no lines, headings dim, numbers flush right."""
    made = Table(
        box=None, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0), title=title, title_justify="left"
    )
    for i, heading in enumerate(headings):
        made.add_column(heading, justify="right" if i in right else "left", no_wrap=i in right)
    return made


def in_order(rows: Sequence[WorkRow], doubtful: Container[str] = ()) -> Table:
    """One line a kernel, numbered; copies and memsets stand between them without a number.

    The times of kernels whose name is `doubtful` carry a `~`. Columns with nothing to say are left out.
    """
    numbers = _numbers(rows)
    columns = [
        ("#", True, [str(n) if n else "" for n in numbers]),
        ("op", False, [row.op or "" for row in rows]),
        ("kernel", False, _descriptions(rows, numbers)),
        ("launch", False, _launches(rows)),
        ("shapes", False, [shapes(row) for row in rows]),
        ("work", True, [work(row) for row in rows]),
        ("time", True, [f"{_tilde(row, doubtful)}{units.duration(row.dur_ns.median)}" for row in rows]),
        ("spread", False, [spread(row.dur_ns) for row in rows]),
        ("rate", True, ["" if row.name in doubtful else rate(row) for row in rows]),
    ]
    columns = [column for column in columns if any(column[2])]
    made = table(*(heading for heading, _, _ in columns), right=[i for i, c in enumerate(columns) if c[1]])
    for number, cells in zip(numbers, zip(*(cells for _, _, cells in columns), strict=True), strict=True):
        made.add_row(*cells, style=None if number else "dim")
    return made


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


def _tilde(row: WorkRow, doubtful: Container[str]) -> str:
    return "~" if row.name in doubtful else ""


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
