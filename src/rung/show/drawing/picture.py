"""Drawings as one file: SVG that stands alone, or PNG."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from rung.errors import MachineError
from rung.insight.exhibit import Exhibit
from rung.show.drawing.bars import side_by_side, where_the_time_goes
from rung.show.drawing.lanes import lanes
from rung.show.drawing.palette import resolved
from rung.show.drawing.roofline import roofline
from rung.show.drawing.svg import Drawing, element, text

MARGIN, HEADING = 20.0, 30.0


def picture(exhibits: Sequence[Exhibit]) -> str:
    """An SVG file: the GPU's lanes; then, of one trace, where its time goes and its roofline, of several
    their GPU and CPU times as bars."""
    labels, forwards = [one.label for one in exhibits], [one.forward for one in exhibits]
    drawings = [lanes(labels, forwards)]
    if len(exhibits) > 1:
        drawings.append(side_by_side(labels, forwards))
    else:
        drawings.append(where_the_time_goes(exhibits[0].breakdown, forwards[0].region))
        drawings += [drawn for drawn in [roofline(exhibits[0].roofline)] if drawn]
    return stacked(drawings)


def stacked(drawings: Sequence[Drawing]) -> str:
    """An SVG file of drawings, one below the other, each under what it shows."""
    placed, y = [], MARGIN
    for drawing in drawings:
        placed.append(text(drawing.label, 0, y + 14, class_="label"))
        placed.append(drawing.placed(y + HEADING))
        y += HEADING + drawing.height + MARGIN
    width = max(drawing.width for drawing in drawings) + 2 * MARGIN
    sheet = element("rect", x=-MARGIN, y=0, width=width, height=y, class_="sheet")
    label = "; ".join(drawing.label for drawing in drawings)
    return Drawing((element("style", _style()), sheet, *placed), width, y, label, left=-MARGIN).svg


def _style() -> str:
    return f"text {{ font-family: system-ui, Roboto, sans-serif; }} .sheet {{ fill: #fff; }}{resolved()}"


def png(svg: str, zoom: float = 2) -> bytes:
    """The SVG as PNG, `zoom` pixels a unit, with a font that comes along: a bare machine has none.

    Raises:
        MachineError: what it takes is not installed.
    """
    fonts = find_spec("font_roboto")
    if find_spec("resvg_py") is None or fonts is None or fonts.origin is None:
        raise MachineError(
            "a PNG takes what is not installed: pip install 'rung[png]', or write an SVG with --svg."
        )
    import resvg_py

    folder = Path(fonts.origin).parent / "files"
    made: bytes = resvg_py.svg_to_bytes(
        svg_string=svg,
        zoom=zoom,
        background="#ffffff",
        skip_system_fonts=True,
        font_files=[str(folder / f"Roboto-{weight}.ttf") for weight in ("Regular", "Bold")],
        font_family="Roboto",
        sans_serif_family="Roboto",
    )
    return bytes(made)
