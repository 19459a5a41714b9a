"""The kernels of a forward under their device's roof, both axes logarithmic."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rung import names, units
from rung.insight.roofline import Point, Roofline
from rung.show.drawing.svg import Drawing, element, text, titled
from rung.show.drawing.ticks import decades

WIDTH, HEIGHT = 900.0, 420.0
LEFT, RIGHT, TOP, BOTTOM = 90.0, 20.0, 20.0, 44.0
MOST = 60
"""Kernels drawn, the longest first: more would hide one another."""


@dataclass(frozen=True, slots=True)
class _Axes:
    x0: float
    x1: float
    y0: float
    y1: float

    def x(self, intensity: float) -> float:
        return LEFT + math.log10(intensity / self.x0) / math.log10(self.x1 / self.x0) * (WIDTH - LEFT - RIGHT)

    def y(self, rate: float) -> float:
        part = math.log10(rate / self.y0) / math.log10(self.y1 / self.y0)
        return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)


def roofline(found: Roofline) -> Drawing | None:
    """FLOP/s over FLOP a byte. None without a ceiling, or where no kernel's work is known.

    A kernel that only moves bytes has no intensity: it stands at the left edge, as far below the roof as its
    bandwidth is below the device's.
    """
    ceiling = found.ceiling
    points = sorted((p for p in found.points if _known(p)), key=lambda p: -p.row.dur_ns.median)[:MOST]
    if ceiling is None or not points:
        return None
    used = {p.dtype for p in points}
    peaks = {dtype: peak for dtype, peak in ceiling.flop_per_s.items() if dtype in used}
    peaks = peaks or dict(ceiling.flop_per_s)
    if not peaks:
        return None
    axes = _axes(points, max(peaks.values()), ceiling.bytes_per_s)
    drawn = [_grid(axes), *(_roof(axes, dtype, peak, ceiling.bytes_per_s) for dtype, peak in peaks.items())]
    longest = max(p.row.dur_ns.median for p in points) or 1
    drawn += [_dot(axes, p, longest, ceiling.bytes_per_s) for p in points]
    return Drawing(tuple(drawn), WIDTH, HEIGHT, f"Roofline of {found.forward.region} on {ceiling.device}")


def _known(point: Point) -> bool:
    """A memset of some bytes has a rate, and says nothing."""
    if point.row.category == "memset":
        return False
    return bool(point.flop_per_s and point.intensity) or (point.flop is None and bool(point.bytes_per_s))


def _axes(points: list[Point], peak: float, bandwidth: float) -> _Axes:
    ridge = peak / bandwidth
    intensities = [p.intensity for p in points if p.intensity]
    xs = decades(min([*intensities, ridge / 100]), max([*intensities, ridge * 4]))
    shares = [p.bytes_per_s / bandwidth for p in points if p.bytes_per_s]
    lowest = min([p.flop_per_s for p in points if p.flop_per_s] + [xs[0] * bandwidth * min([*shares, 1.0])])
    ys = decades(lowest, peak * 1.2)
    return _Axes(xs[0], xs[-1], ys[0], ys[-1])


def _grid(axes: _Axes) -> str:
    marks = []
    for value in decades(axes.x0, axes.x1):
        x = axes.x(value)
        marks.append(element("line", x1=x, x2=x, y1=TOP, y2=HEIGHT - BOTTOM, class_="grid"))
        marks.append(text(f"{value:g}", x, HEIGHT - BOTTOM + 16, class_="small", text_anchor="middle"))
    for value in decades(axes.y0, axes.y1):
        y = axes.y(value)
        marks.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="grid"))
        marks.append(text(units.flop_rate(value), LEFT - 8, y + 4, class_="small", text_anchor="end"))
    middle = (LEFT + WIDTH - RIGHT) / 2
    marks.append(text("FLOP a byte", middle, HEIGHT - 8, class_="small", text_anchor="middle"))
    return "".join(marks)


def _roof(axes: _Axes, dtype: str, peak: float, bandwidth: float) -> str:
    ridge = peak / bandwidth
    corners = [(axes.x0, axes.x0 * bandwidth), (ridge, peak), (axes.x1, peak)]
    path = " ".join(f"{axes.x(x):.1f},{axes.y(max(y, axes.y0)):.1f}" for x, y in corners)
    said = f"{dtype} {units.flop_rate(peak)}, {units.byte_rate(bandwidth)}"
    return element("polyline", points=path, class_="roof") + text(
        said, axes.x(ridge) - 8, axes.y(peak) + 4, class_="small", text_anchor="end"
    )


def _dot(axes: _Axes, point: Point, longest: int, bandwidth: float) -> str:
    """As large, by area, as the kernel is long."""
    radius = 4 + 10 * math.sqrt(point.row.dur_ns.median / longest)
    if point.intensity and point.flop_per_s:
        x, y = axes.x(point.intensity), axes.y(point.flop_per_s)
        rate = units.flop_rate(point.flop_per_s)
    else:
        rate = units.byte_rate(point.bytes_per_s or 0)
        x, y = axes.x(axes.x0), axes.y(max(axes.x0 * (point.bytes_per_s or 0), axes.y0))
    said = f"{names.short(point.row.decoded)}, {rate}, {units.duration(point.row.dur_ns.median)}"
    return element("circle", titled(said), cx=x, cy=y, r=radius, class_=f"dot kind-{point.row.kind}")
