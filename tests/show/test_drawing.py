"""Pictures: well-formed, self-contained, true to the numbers, harmless."""

from __future__ import annotations

import struct
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise

import pytest

from handmade import GELU, events, ran
from recordings import h200
from rung.errors import MachineError
from rung.insight.breakdown import breakdown
from rung.insight.exhibit import Exhibit, exhibit
from rung.insight.forward import forward
from rung.ladder.sweep import Point, Regime, Sweep
from rung.show.drawing import picture as pictures
from rung.show.drawing.bars import side_by_side, where_the_time_goes
from rung.show.drawing.lanes import lanes
from rung.show.drawing.palette import resolved
from rung.show.drawing.picture import picture, png, stacked
from rung.show.drawing.svg import element, text
from rung.show.drawing.sweep import sweep
from rung.show.drawing.ticks import decades, round_steps
from rung.trace import read as read_file
from tracelib import read

NS = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def eager() -> Exhibit:
    return exhibit(read_file(h200("03_mlp_eager")), "eager")


@pytest.fixture(scope="module")
def compiled() -> Exhibit:
    return exhibit(read_file(h200("03_mlp_compile")), "compiled")


def rects(svg: str, word: str) -> list[ET.Element]:
    return [r for r in ET.fromstring(svg).iter(f"{NS}rect") if word in r.get("class", "")]


def test_a_bar_of_the_whole_time_has_no_gap(eager: Exhibit) -> None:
    found = breakdown(eager.forward)
    pieces = rects(where_the_time_goes(found, "fwd").svg, "piece")
    spans = [(float(p.get("x", "0")), float(p.get("width", "0"))) for p in pieces]
    assert all(a + width == pytest.approx(b, abs=0.11) for (a, width), (b, _) in pairwise(spans))
    assert spans[-1][0] + spans[-1][1] == pytest.approx(900, abs=0.2)
    gemm = spans[0][1] / 900
    assert gemm == pytest.approx(dict(found.kinds)["gemm"] / found.wall_ns, abs=0.001)


def test_kernels_are_as_wide_as_they_are_long(eager: Exhibit) -> None:
    drawn = rects(lanes(["eager"], [eager.forward]).svg, "piece")
    widths = [float(r.get("width", "0")) for r in drawn]
    times = [k.dur_ns for k in eager.forward.example.work]
    assert len(widths) == len(times) == 7
    assert widths[1] / widths[4] == pytest.approx(times[1] / times[4], rel=0.01)


def test_of_work_too_short_to_tell_apart_the_first_is_drawn() -> None:
    """5,000 kernels, each a sixth of a unit from the next: every third is drawn."""
    forward_ = forward(read(*events(*[ran(GELU, "aten::gelu", dur=9)] * 5000)))
    assert len(rects(lanes(["many"], [forward_]).svg, "piece")) == 1_667


def test_a_long_label_leaves_room_for_the_bars(eager: Exhibit) -> None:
    for made in (lanes(["x" * 250], [eager.forward]), side_by_side(["x" * 250], [eager.forward])):
        root = ET.fromstring(made.svg)
        assert all(float(r.get("width", "0")) > 0 for r in root.iter(f"{NS}rect"))
        labels = [t.text for t in root.iter(f"{NS}text") if t.get("class") == "label"]
        assert labels == ["x" * 34 + "\u2026"]


def test_a_picture_stands_alone(eager: Exhibit, compiled: Exhibit) -> None:
    for shown in ([eager], [eager, compiled]):
        svg = picture(shown)
        ET.fromstring(svg)
        assert "var(" not in svg
        assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")


def test_no_colour_is_left_open() -> None:
    assert "var(" not in resolved() and "--" not in resolved()


def test_a_hostile_name_is_text() -> None:
    trace = read(*events(ran(GELU, '"/><script>alert(1)</script>', [64]), ran("<b>&", "aten::gelu", [64])))
    svg = picture([exhibit(trace, "]]><script>")])
    assert not list(ET.fromstring(svg).iter(f"{NS}script"))
    assert "alert(1)" in "".join(ET.fromstring(svg).itertext())


def test_png_has_two_pixels_a_unit(eager: Exhibit) -> None:
    pytest.importorskip("resvg_py")
    made = png(picture([eager]))
    assert made[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">I", made[16:20])[0] == 2 * 940


def test_png_draws_letters_on_a_machine_without_fonts(eager: Exhibit) -> None:
    """Two pictures that differ in one word differ in their pixels."""
    pytest.importorskip("resvg_py")
    svg = picture([eager])
    assert png(svg) != png(svg.replace(">gelu<", "><"))


def test_what_a_png_takes_is_named(eager: Exhibit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "find_spec", lambda name: None)
    with pytest.raises(MachineError, match=r"pip install 'rung\[png\]'"):
        png(picture([eager]))


def test_a_forward_without_work_is_drawn() -> None:
    ET.fromstring(picture([exhibit(read(*events(ran(GELU, "aten::gelu"))[:2]), "empty")]))


def test_attributes_and_text_are_escaped() -> None:
    assert element("g", class_='"><x>') == '<g class="&quot;&gt;&lt;x&gt;"/>'
    assert text("a<b", 1, 2.04) == '<text x="1" y="2">a&lt;b</text>'


# (wall, GPU) us: eager is limited by its launches at 1, by the GPU at 64.
TIMES = {(1, "eager"): (80, 10), (1, "rung"): (100, 5), (64, "eager"): (300, 290), (64, "rung"): (200, 190)}
SWEEP = Sweep(
    rung="mlp",
    parameter="batch",
    values=(1, 64),
    parameters={},
    train=False,
    made={"device_name": "a <GPU>", "torch": "2.11"},
    variants=("eager", "rung"),
    sources={},
    skipped={},
    points=tuple(Point(size, who, 1000 * wall, 0, 1000 * gpu) for (size, who), (wall, gpu) in TIMES.items()),
    regimes=(Regime(1, "overhead-bound", ""), Regime(64, "compute-bound", "")),
)


def test_a_sweep_has_a_pale_and_a_full_bar_each() -> None:
    root = ET.fromstring(stacked([sweep(SWEEP)]))
    bars = [float(r.get("width", "0")) for r in root.iter(f"{NS}rect") if "bar" in r.get("class", "")]
    # To the slowest wall time of a size, 600 wide: 900 but for 110 of names and 190 of times.
    assert bars == [480, 60, 600, 30, 600, 580, 400, 380]
    words = [said.text for said in root.iter(f"{NS}text")]
    assert "mlp: time of a call, by batch (a <GPU>, torch 2.11)" in words
    assert {"batch 1, eager is overhead-bound", "80.0 \u00b5s, GPU 10.0 \u00b5s"} <= set(words)


def test_a_sweep_without_a_time_is_drawn() -> None:
    nothing = replace(SWEEP, points=tuple(replace(p, wall_ns=0, gpu_ns=None) for p in SWEEP.points))
    ET.fromstring(stacked([sweep(nothing)]))


STEPS = (
    (100, 5, [0, 20, 40, 60, 80, 100]),
    (7, 5, [0, 2, 4, 6]),
    (0, 5, [0]),
    (1_000_000, 4, [0, 500_000, 1_000_000]),
)


@pytest.mark.parametrize(("end", "about", "steps"), STEPS)
def test_steps_are_round(end: int, about: int, steps: list[int]) -> None:
    assert round_steps(end, about) == steps


def test_decades_enclose() -> None:
    assert decades(3, 200) == [1, 10, 100, 1000]
    assert decades(10, 10) == [10, 100]


def test_the_forward_of_a_lane_starts_at_zero() -> None:
    made = lanes(["a"], [forward(read(*events(ran(GELU, "aten::gelu", [64]))))])
    assert float(rects(made.svg, "piece")[0].get("x", "0")) == 110
