"""The kernels of a forward as table rows: in order, or gathered by name where there are many."""

from __future__ import annotations

from collections.abc import Container, Sequence

from rung import names, units
from rung.insight.forward import WorkRow
from rung.insight.roofline import Point, reached
from rung.insight.spread import Spread
from rung.show.fitting import Column, Columns, LeftOut


def in_order(
    rows: Sequence[WorkRow],
    doubtful: Container[str] = (),
    weights: Sequence[str] = (),
    points: Sequence[Point] = (),
    left_out: LeftOut | None = None,
) -> Columns:
    """One line a kernel, numbered; copies and memsets stand between them without a number.

    The times of kernels whose name is `doubtful` carry a `~`. `weights` are those of each row, where known,
    and `points` their places on the roofline, for the share of the device's ceiling that each one reached.
    `left_out` is told of columns that do not fit.
    """
    numbers = _numbers(rows)
    weights = weights or [""] * len(rows)
    shares = [_reached([point]) for point in points] or [""] * len(rows)
    by_memory = _by_memory(rows, points)
    columns = (
        Column("#", [str(n) if n else "" for n in numbers], right=True),
        Column("weight", [word if n else "" for word, n in zip(weights, numbers, strict=True)]),
        Column("op", [row.op or "" for row in rows]),
        Column("kernel", _descriptions(rows, numbers)),
        Column("launch", _launches(rows)),
        Column("shapes", [shapes(row) for row in rows]),
        Column("work", [work(*one) for one in by_memory], right=True),
        Column("time", [_time(row, doubtful) for row in rows], right=True),
        Column("spread", [spread(row.dur_ns) for row in rows]),
        Column("rate", _published(rows, doubtful, [rate(*one) for one in by_memory]), right=True),
        Column(REACHED, _published(rows, doubtful, shares), right=True),
    )
    return Columns(
        columns,
        [None if n else "dim" for n in numbers],
        expendable=(REACHED, "shapes", "spread", "launch", "weight"),
        last=("rate", "work", "op"),
        left_out=left_out or LeftOut(),
    )


def _reached(points: Sequence[Point]) -> str:
    """The share of the ceiling that kernels reached together; empty where it is not known of all."""
    share = None if any(point.row.category == "memset" for point in points) else reached(points)
    return units.percent(share) if share is not None else ""


REACHED = "of ceiling"
"""The heading over shares of what the device can do at most."""


def _published(rows: Sequence[WorkRow], doubtful: Container[str], cells: Sequence[str]) -> list[str]:
    """A doubtful time makes no rate."""
    return ["" if row.name in doubtful else cell for row, cell in zip(rows, cells, strict=True)]


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


def gathered(
    rows: Sequence[WorkRow],
    limit: int = 20,
    points: Sequence[Point] = (),
    weights: Sequence[str] = (),
    left_out: LeftOut | None = None,
) -> Columns:
    """One line a kernel name, dearest first: how often it ran, its share of the GPU time, and of the device's
    ceiling where `points` tell; the weights it works with, where known. `left_out` as for `in_order`."""
    groups: dict[str, list[int]] = {}
    for i, row in enumerate(rows):
        groups.setdefault(row.name, []).append(i)
    total = sum(row.dur_ns.median for row in rows) or 1
    ranked = sorted(groups.values(), key=lambda group: -_spent(rows, group))
    told = [_gathered(rows, group, total, points, weights) for group in ranked[:limit]]
    rest = [i for group in ranked[limit:] for i in group]
    if rest:
        others = f"{len(ranked) - limit} other names"
        told.append((str(len(rest)), others, "", "", *_time_and_share(rows, rest, total), ""))
    op = "op and weights" if any(weights) else "op"
    headings = ("times", "kernel", "kind", op, "time in all", "share", REACHED)
    columns = [
        Column(heading, cells, right=i in (0, 4, 5, 6))
        for i, (heading, cells) in enumerate(zip(headings, zip(*told, strict=True), strict=True))
    ]
    last = (REACHED, op, "share")
    return Columns(columns, [None] * len(told), ("kind",), last, left_out or LeftOut())


def _gathered(
    rows: Sequence[WorkRow],
    group: Sequence[int],
    total: int,
    points: Sequence[Point],
    weights: Sequence[str],
) -> tuple[str, ...]:
    """The cells of kernels of one name."""
    first = rows[group[0]]
    ops = f"{_ops([rows[i] for i in group])} {_some([weights[i] for i in group] if weights else [])}"
    reached = _reached([points[i] for i in group]) if points else ""
    told = (str(len(group)), names.short(first.decoded), first.kind, ops.strip())
    return (*told, *_time_and_share(rows, group, total), reached)


def _some(weights: Sequence[str], limit: int = 4) -> str:
    """`q, k, v, o`, the first of them where there are many."""
    known = list(dict.fromkeys(weight for weight in weights if weight))
    return ", ".join([*known[:limit], *(["..."] if len(known) > limit else [])])


def _ops(rows: Sequence[WorkRow]) -> str:
    ops = sorted({row.op for row in rows if row.op})
    return ops[0] + (f" and {len(ops) - 1} more" if len(ops) > 1 else "") if ops else ""


def _spent(rows: Sequence[WorkRow], group: Sequence[int]) -> int:
    return sum(rows[i].dur_ns.median for i in group)


def _time_and_share(rows: Sequence[WorkRow], group: Sequence[int], total: int) -> tuple[str, str]:
    spent = _spent(rows, group)
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


def work(row: WorkRow, by_memory: bool = False) -> str:
    if row.work.flop and not (by_memory and row.work.nbytes):
        return units.flop(row.work.flop)
    return units.size(row.work.nbytes) if row.work.nbytes else ""


def rate(row: WorkRow, by_memory: bool = False) -> str:
    if row.category == "memset":
        return ""
    if row.flop_per_s and not (by_memory and row.bytes_per_s):
        return units.flop_rate(row.flop_per_s)
    return units.byte_rate(row.bytes_per_s) if row.bytes_per_s else ""


def _by_memory(rows: Sequence[WorkRow], points: Sequence[Point]) -> list[tuple[WorkRow, bool]]:
    """Each with whether memory limits it, so that its work and rate are in bytes. Without a ceiling that is
    not known of a product: a CPU's ridge is far below a GPU's."""
    known = [point.side == "memory" and point.memory_ns is not None for point in points]
    return list(zip(rows, known or [False] * len(rows), strict=True))


def spread(time: Spread) -> str:
    """`56.4-60.0`, only where the steps differ by more than a tenth."""
    return f"{units.duration(time.low)} - {units.duration(time.high)}" if time.is_wide else ""
