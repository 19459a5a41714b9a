"""Bars: variants against each other, and where one forward's time goes."""

from __future__ import annotations

from collections.abc import Sequence

from rung import units
from rung.insight.breakdown import Breakdown
from rung.insight.forward import Forward
from rung.show.drawing.svg import Drawing, element, label, room_for, text, titled

WIDTH = 900.0
LABELS = 110.0
LINE = 26.0


def where_the_time_goes(found: Breakdown, region: str) -> Drawing:
    """One bar for the wall time, a piece for each kind of work, what is left for the idle GPU."""
    pieces = [*found.kinds, *((("idle", found.idle_ns),) if found.idle_ns else ())]
    whole = sum(ns for _, ns in pieces) or 1
    drawn, x = [], 0.0
    for kind, ns in pieces:
        width = ns / whole * WIDTH
        said = f"{kind} {units.duration(ns)}, {units.percent(ns / whole)}"
        drawn.append(
            element("rect", titled(said), x=x, y=0, width=width, height=28, class_=f"piece kind-{kind}")
        )
        if width > 7.5 * len(f"{kind} {units.percent(ns / whole)}"):
            drawn.append(text(f"{kind} {units.percent(ns / whole)}", x + 8, 19, class_=f"on-kind on-{kind}"))
        x += width
    title = f"Where the {units.duration(found.wall_ns)} of {region} go"
    return Drawing(tuple(drawn), WIDTH, 28, title)


def side_by_side(labels: Sequence[str], forwards: Sequence[Forward]) -> Drawing:
    """GPU busy time and CPU time of each variant, on one axis."""
    measured = [(f.gpu_busy_ns.median, f.cpu_ns.median) for f in forwards]
    longest = max((ns for pair in measured for ns in pair), default=0) or 1
    left = room_for(labels, LABELS)
    drawn, y = [], 0.0
    for variant, (gpu, cpu) in zip(labels, measured, strict=True):
        drawn.append(label(variant, left, y + 22))
        for what, ns, row in (("GPU", gpu, 0), ("CPU", cpu, 1)):
            top = y + row * LINE / 2 + 3
            width = ns / longest * (WIDTH - left - 110)
            drawn.append(
                element("rect", x=left, y=top, width=width, height=LINE / 2 - 2, class_=f"bar {what.lower()}")
            )
            drawn.append(text(f"{what} {units.duration(ns)}", left + width + 6, top + 10, class_="small"))
        y += LINE + 8
    return Drawing(tuple(drawn), WIDTH, y, f"GPU and CPU time of one forward: {units.listing(list(labels))}")
