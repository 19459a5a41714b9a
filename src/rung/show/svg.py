"""A sweep as a drawing: a group of bars a size, how long the GPU works and how long it waits."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from rung import units
from rung.ladder.sweep import Point, Sweep

COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2")
WIDTH, LEFT, BAR_WIDTH, ROW, GAP = 720, 150, 420, 22, 18
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#333}.dim{fill:#777}.head{font-weight:600}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.dim{fill:#999}}"
)


def sweep_svg(swept: Sweep) -> str:
    """An SVG 1.1 document, readable on light and dark. Each size has its own scale, its slowest variant's."""
    height = 70 + sum(ROW * (len(swept.at(value)) + 1) + GAP for value in swept.values)
    body = "\n".join(_body(swept))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" role="img">\n<style>{STYLE}</style>\n{body}\n</svg>\n'
    )


def _body(swept: Sweep) -> Iterator[str]:
    where = f"{swept.made.get('device_name')}, torch {swept.made.get('torch')}"
    yield _text(12, 24, f"{swept.rung}: time of a call, by {swept.parameter}", "head")
    yield _text(12, 44, f"{where}; full: the GPU works, pale: it waits for the CPU", "dim")
    y = 60
    for value in swept.values:
        points = swept.at(value)
        y += ROW
        yield _text(12, y, f"{swept.parameter} {value}", "head")
        limit = next((r.limit for r in swept.regimes if r.value == value), None)
        if limit is not None:
            yield _text(LEFT, y, f"{points[0].variant} is {limit}", "dim")
        slowest = max(max(one.wall_ns, one.gpu_ns or 0) for one in points)
        for one in points:
            y += ROW
            yield from _bar(one, slowest, y, COLOURS[swept.variants.index(one.variant) % len(COLOURS)])
        y += GAP


def _bar(one: Point, slowest: int, y: int, colour: str) -> Iterator[str]:
    works = one.wall_ns if one.gpu_ns is None else one.gpu_ns
    whole = max(one.wall_ns, works)
    yield _text(24, y, one.variant)
    for ns, opacity in ((whole, 0.35), (works, 1)):
        wide = max(1.0, BAR_WIDTH * ns / slowest)
        yield (
            f'<rect x="{LEFT}" y="{y - 12}" width="{wide:.1f}" height="14" rx="2" '
            f'fill="{colour}" fill-opacity="{opacity}"/>'
        )
    told = units.duration(whole) + ("" if one.gpu_ns is None else f", GPU {units.duration(works)}")
    yield _text(round(LEFT + BAR_WIDTH * whole / slowest) + 8, y, told, "dim")


def _text(x: int, y: int, words: str, kind: str = "") -> str:
    mark = f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}"{mark}>{escape(words)}</text>'
