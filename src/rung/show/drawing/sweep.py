"""A sweep: how long a call of each variant takes at each size, and how much of that the GPU works."""

from __future__ import annotations

from rung import units
from rung.ladder.sweep import Point, Sweep
from rung.show.drawing.svg import Drawing, element, label, room_for, text

WIDTH = 900.0
LABELS = 110.0
TIMES = 190.0
ROW, GAP, HEADING = 22.0, 14.0, 26.0


def sweep(found: Sweep) -> Drawing:
    """A bar a variant and size: pale the call, full the GPU's part. Each size has its own scale."""
    left = room_for(found.variants, LABELS)
    drawn, y = [text("full: the GPU works; pale: it waits for the CPU", 0, 14, class_="small")], 24.0
    for value in found.values:
        points = found.at(value)
        drawn.append(text(_heading(found, value), 0, y + 17, class_="label"))
        y += HEADING
        longest = max((_whole(one) for one in points), default=0) or 1
        for one in points:
            drawn += [
                label(one.variant, left, y + 15),
                *_bars(one, left, (WIDTH - left - TIMES) / longest, y),
            ]
            y += ROW
        y += GAP
    where = f"{found.made.get('device_name')}, torch {found.made.get('torch')}"
    return Drawing(
        tuple(drawn), WIDTH, y - GAP, f"{found.rung}: time of a call, by {found.parameter} ({where})"
    )


def _heading(found: Sweep, value: int) -> str:
    limit = next((regime.limit for regime in found.regimes if regime.value == value), None)
    said = f", {found.at(value)[0].variant} is {limit}" if limit else ""
    return f"{found.parameter} {value}{said}"


def _whole(one: Point) -> int:
    """Timed apart, the GPU alone may take longer than the call."""
    return max(one.wall_ns, one.gpu_ns or 0)


def _bars(one: Point, left: float, scale: float, y: float) -> list[str]:
    whole, works = _whole(one), one.wall_ns if one.gpu_ns is None else one.gpu_ns
    told = units.duration(whole) + ("" if one.gpu_ns is None else f", GPU {units.duration(works)}")
    return [
        element("rect", x=left, y=y + 3, width=whole * scale, height=ROW - 6, class_="bar waits"),
        element("rect", x=left, y=y + 3, width=works * scale, height=ROW - 6, class_="bar gpu"),
        text(told, left + whole * scale + 8, y + 15, class_="small"),
    ]
