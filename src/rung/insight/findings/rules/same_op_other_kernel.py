"""One op that runs different kernels for different shapes or dtypes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rung import names, units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward
from rung.insight.roofline import Point

KINDS = ("gemm", "convolution", "attention")


def find(case: Case) -> Iterator[Sighting]:
    for roof in case.rooflines:
        by_op: dict[str, list[Point]] = {}
        for point in roof.points:
            if point.row.kind in KINDS and point.row.op and point.row.shapes:
                by_op.setdefault(point.row.op, []).append(point)
        for op, points in by_op.items():
            kernels = _kernels(points)
            pair = _pair(kernels)
            if pair is not None:
                yield _sighting(roof.forward, op, kernels, pair)


def _kernels(points: Sequence[Point]) -> list[Point]:
    """One point a kernel name, the one with most time in all first."""
    spent: dict[str, int] = {}
    first: dict[str, Point] = {}
    for point in points:
        name = point.row.name
        first.setdefault(name, point)
        spent[name] = spent.get(name, 0) + point.row.dur_ns.median
    return sorted(first.values(), key=lambda point: -spent[point.row.name])


def _pair(kernels: Sequence[Point]) -> tuple[Point, Point] | None:
    """The dearest kernel and the dearest other one that worked on something else."""
    return next(((kernels[0], other) for other in kernels[1:] if _what(other) != _what(kernels[0])), None)


def _what(point: Point) -> tuple[object, ...]:
    return point.row.gemm or point.row.shapes, point.row.dtypes


def _sighting(forward: Forward, op: str, kernels: Sequence[Point], pair: tuple[Point, Point]) -> Sighting:
    first, second = map(_told, pair)
    alike = "another " if names.short(pair[0].row.decoded) == names.short(pair[1].row.decoded) else ""
    these = ":" if len(kernels) == 2 else ", among them"
    return Sighting(
        title=f"{op} is not one kernel but {len(kernels)}{these} {first} and {alike}{second}; "
        "the library picks by shape and dtype",
        advice="Read each rate beside its shape: one that is a multiple of the tile wastes nothing.",
        forward=forward,
        evidence={"op": op, "kernels": [_plain(point) for point in kernels]},
    )


def _told(point: Point) -> str:
    rate = f" at {units.flop_rate(point.flop_per_s)}" if point.flop_per_s else ""
    return f"{names.short(point.row.decoded)} for {_size(point)}{rate}"


def _size(point: Point) -> str:
    gemm = point.row.gemm
    if gemm is None:
        return " ".join(str(list(shape)) for shape in point.row.shapes[:2])
    batch = f"{gemm.batch} x " if gemm.batch > 1 else ""
    return f"{batch}[{gemm.m}, {gemm.k}] x [{gemm.k}, {gemm.n}]"


def _plain(point: Point) -> dict[str, Any]:
    return {
        "name": point.row.name,
        "decoded": names.short(point.row.decoded),
        "shape": _size(point),
        "dtypes": list(point.row.dtypes),
        "ns": point.row.dur_ns.median,
        "flop_per_s": round(point.flop_per_s) if point.flop_per_s else None,
    }


RULE = Rule(
    id="same-op-other-kernel",
    topic="kernels",
    shows="The same op with different kernels for different shapes or dtypes.",
    means="The library chose another tile, or another algorithm.",
    do="Compare their rates: where one is slow, pad or batch its shape to a multiple of the tile.",
    find=find,
    explains=True,
)
