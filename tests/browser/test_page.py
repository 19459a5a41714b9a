"""The page of `rung show`, opened from disk in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from browsing import Watched
from recordings import h200
from rung.insight.exhibit import exhibit
from rung.show.page import Scene, page
from rung.trace import read
from tracelib import kernel, launch, op
from tracelib import read as trace_of

CHOSEN = """() => {
  const span = rung.timeline.chosen;
  if (!span) return null;
  const { lane, i } = span;
  return { name: lane.trace.names[lane.name[i]], lane: lane.label, start: lane.start[i] };
}"""
VIEW = "() => [rung.timeline.view.start, rung.timeline.view.end]"
AT = """(name) => {
  const view = rung.timeline.view;
  const named = (lane, i) => lane.trace.names[lane.name[i]].includes(name) && lane.start[i] >= 0;
  for (const lane of rung.timeline.lanes.filter((l) => l.kind !== "annotation")) {
    const i = [...lane.name.keys()].find((i) => named(lane, i));
    if (i === undefined) continue;
    const share = (lane.start[i] + lane.dur[i] / 2 - view.start) / (view.end - view.start);
    return [128 + share * (view.width - 128), lane.top + lane.depth[i] * 18 + 9];
  }
}"""
"""Where on the canvas the first span of that name lies in the typical forward."""

COLOURS = """() => ['--ink', '--soft', '--paper'].map(
  (name) => getComputedStyle(document.documentElement).getPropertyValue(name))"""
UNNAMED = """() => [...document.querySelectorAll('button, input, canvas, svg')].filter(
  (e) => !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).length"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    eager = exhibit(read(h200("03_mlp_eager")), "eager")
    compiled = exhibit(read(h200("03_mlp_compile")), "compiled")
    (folder / "one.html").write_text(page([Scene("", (eager,))]))
    (folder / "two.html").write_text(page([Scene("Side by side", (eager, compiled))]))
    return {"one": folder / "one.html", "two": folder / "two.html"}


@pytest.fixture
def one(tab: Watched, pages: dict[str, Path]) -> Watched:
    return opened(tab, pages["one"])


@pytest.fixture
def two(tab: Watched, pages: dict[str, Path]) -> Watched:
    return opened(tab, pages["two"])


def opened(tab: Watched, path: Path) -> Watched:
    """The page, once its timeline is drawn."""
    tab.page.goto(path.as_uri())
    tab.page.wait_for_function("() => rung.timeline.view.width > 0")
    return tab


def chosen(tab: Watched) -> dict[str, Any] | None:
    return tab.page.evaluate(CHOSEN)


def width(tab: Watched) -> float:
    start, end = tab.page.evaluate(VIEW)
    return end - start


def click_on(tab: Watched, name: str) -> None:
    x, y = tab.page.evaluate(AT, name)
    tab.page.locator("#lanes").click(position={"x": x, "y": y})


def test_it_opens_from_disk_without_a_complaint_or_a_request(one: Watched) -> None:
    assert one.page.locator(".answer").inner_text().startswith("compute-bound")
    assert one.complaints == [] and one.abroad == []


def test_nothing_could_be_fetched(one: Watched) -> None:
    """Its policy refuses what a script, were there a hostile one, could ask for."""
    refused = one.page.evaluate("() => fetch('http://127.0.0.1:9/').then(() => false, () => true)")
    assert refused
    assert any("Content Security Policy" in said for said in one.complaints)


class TestTimeline:
    def test_the_wheel_zooms_around_the_pointer(self, one: Watched) -> None:
        before = width(one)
        box = one.page.locator("#lanes").bounding_box()
        assert box is not None
        one.page.mouse.move(box["x"] + 600, box["y"] + 60)
        one.page.mouse.wheel(0, -400)
        one.page.wait_for_timeout(100)
        assert width(one) == pytest.approx(before * 2.718281828 ** (-400 * 0.0015), rel=1e-6)

    def test_dragging_pans(self, one: Watched) -> None:
        start, end = one.page.evaluate(VIEW)
        box = one.page.locator("#lanes").bounding_box()
        assert box is not None
        one.page.mouse.move(box["x"] + 600, box["y"] + 60)
        one.page.mouse.down()
        one.page.mouse.move(box["x"] + 500, box["y"] + 60, steps=4)
        one.page.mouse.up()
        moved_start, moved_end = one.page.evaluate(VIEW)
        assert moved_end - moved_start == pytest.approx(end - start)
        assert moved_start - start == pytest.approx(100 * (end - start) / (box["width"] - 128), rel=0.02)
        assert chosen(one) is None

    def test_hovering_tells_what_a_kernel_is(self, one: Watched) -> None:
        x, y = one.page.evaluate(AT, "nvjet_sm90_tst_256x128")
        one.page.locator("#lanes").hover(position={"x": x, "y": y})
        tip = one.page.locator("#tip").inner_text()
        assert "GEMM 256x128x64" in tip and "38.7 GFLOP" in tip and "[8192, 768] x [768, 3072]" in tip
        assert "memory: 67.6 MB" in tip  # x 12.6, weight 4.7, result 50.3

    def test_the_tip_is_whole_at_every_edge(self, one: Watched) -> None:
        one.page.set_viewport_size({"width": 420, "height": 500})
        one.page.locator("#lanes").scroll_into_view_if_needed()
        x, y = one.page.evaluate(AT, "nvjet_sm90_tst_192x128")
        one.page.locator("#lanes").hover(position={"x": x, "y": y})
        box = one.page.locator("#tip").bounding_box()
        assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 420
        assert box["y"] >= 0 and box["y"] + box["height"] <= 500

    def test_a_kernel_leads_back_to_its_op_and_region(self, one: Watched) -> None:
        click_on(one, "nvjet_sm90_tst_256x128")
        way = one.page.locator("#detail nav button").all_inner_texts()
        assert way == ["mlp_fwd", "aten::linear", "aten::matmul", "aten::mm", "cuLaunchKernelEx"]
        one.page.locator("#detail nav button", has_text="aten::mm").click()
        found = chosen(one)
        assert found is not None and found["name"] == "aten::mm"
        assert "2 pieces of work" in one.page.locator("#detail").inner_text()  # a memset, and the GEMM

    def test_the_keyboard_alone_is_enough(self, one: Watched) -> None:
        one.page.locator("#lanes").focus()
        before = width(one)
        one.page.keyboard.press("w")
        assert width(one) == pytest.approx(before * 0.7)
        one.page.keyboard.press("s")
        one.page.keyboard.press("ArrowRight")
        first = chosen(one)
        one.page.keyboard.press("ArrowRight")
        second = chosen(one)
        assert first is not None and second is not None and second["start"] > first["start"]
        one.page.keyboard.press("Enter")
        launch = chosen(one)
        assert launch is not None and launch["lane"].startswith("CPU thread")
        one.page.keyboard.press("Enter")
        assert chosen(one) == second
        one.page.keyboard.press("Escape")
        assert chosen(one) is None

    def test_a_table_row_is_found_in_the_timeline(self, one: Watched) -> None:
        one.page.locator("tr[data-row='4'] .find").click()
        found = chosen(one)
        assert found is not None and "GeluCUDAKernelImpl" in found["name"]
        assert "chosen" in (one.page.locator("tr[data-row='4']").get_attribute("class") or "")


class TestTall:
    """150 streams: taller than the window."""

    @pytest.fixture
    def tall(self, tab: Watched, tmp_path: Path) -> Watched:
        rows = [
            one
            for i in range(150)
            for one in (
                op("aten::mm", 9 * i, 8),
                launch(9 * i + 1, 1, i + 1),
                kernel(f"k{i}", 9 * i + 3, 5, i + 1, stream=i),
            )
        ]
        file = tmp_path / "tall.html"
        file.write_text(page([Scene("", (exhibit(trace_of(*rows), "tall"),))]))
        return opened(tab, file)

    def test_its_stage_scrolls(self, tall: Watched) -> None:
        box = tall.page.locator(".stage").bounding_box()
        assert box is not None and box["height"] <= 0.8 * 900 + 2
        tall.page.mouse.move(box["x"] + 600, box["y"] + 200)
        tall.page.keyboard.down("Shift")
        tall.page.mouse.wheel(0, 500)
        tall.page.keyboard.up("Shift")
        tall.page.wait_for_function("() => document.querySelector('.stage').scrollTop === 500")

    def test_what_is_chosen_comes_into_sight(self, tall: Watched) -> None:
        tall.page.locator(".find", has_text="k140").click()
        found = chosen(tall)
        assert found is not None and found["name"] == "k140"
        assert tall.page.evaluate("() => document.querySelector('.stage').scrollTop") > 500

    def test_ops_that_stand_in_are_found_as_well(self, tab: Watched, tmp_path: Path) -> None:
        file = tmp_path / "cpu.html"
        trace = trace_of(op("aten::mm", 0, 8), op("aten::gelu", 10, 8))
        file.write_text(page([Scene("", (exhibit(trace, "cpu"),))]))
        opened(tab, file).page.locator(".find").nth(1).click()
        found = chosen(tab)
        assert found is not None and found["name"] == "aten::gelu"


class TestTable:
    def column(self, tab: Watched, number: int) -> list[str]:
        return tab.page.locator(f"#kernels-0 tbody tr:not([hidden]) td:nth-child({number})").all_inner_texts()

    def test_a_heading_sorts_and_sorts_back(self, one: Watched) -> None:
        times = one.page.locator("#kernels-0 th button", has_text="time")
        times.click()
        ranked = ["768 ns", "800 ns", "29.9 µs", "36.0 µs", "51.9 µs", "56.4 µs", "56.6 µs"]
        assert self.column(one, 6) == ranked
        assert times.locator("..").get_attribute("aria-sort") == "ascending"
        times.click()
        assert self.column(one, 6) == ranked[::-1]
        one.page.locator("#kernels-0 th button", has_text="#").click()
        assert self.column(one, 1) == ["1", "2", "3", "4", "5", "6", "7"]

    def test_a_filter_keeps_the_rows_with_all_its_words(self, one: Watched) -> None:
        one.page.locator("[data-filter]").fill("gemm 3072 192x128")
        assert self.column(one, 1) == ["7"]
        assert one.page.locator("output").inner_text() == "1 of 7"


class TestTwo:
    def test_side_by_side_on_one_axis(self, two: Watched) -> None:
        assert two.page.locator("main > section").first.locator("svg").count() == 2
        said = two.page.locator("main > section").first.inner_text()
        assert "became one kernel, triton_poi_fused__unsafe_view_gelu_mul_0" in said
        lanes = two.page.evaluate("() => rung.timeline.lanes.map((l) => l.trace.label)")
        assert set(lanes) == {"eager", "compiled"}
        assert two.complaints == []

    def test_tabs_go_from_variant_to_variant(self, two: Watched) -> None:
        first, second = two.page.locator("article.trace").all()
        assert first.is_visible() and not second.is_visible()
        two.page.locator("[role=tab]", has_text="eager").focus()
        two.page.keyboard.press("ArrowRight")
        assert second.is_visible() and not first.is_visible()
        assert two.page.locator("[role=tab]", has_text="compiled").get_attribute("aria-selected") == "true"

    def test_on_paper_all_of_them_show(self, two: Watched) -> None:
        two.page.emulate_media(media="print")
        assert all(article.is_visible() for article in two.page.locator("article.trace").all())
        assert two.page.locator("h2.variant").all_inner_texts() == ["eager", "compiled"]

    def test_paper_is_white_however_dark_the_page(self, two: Watched) -> None:
        two.page.emulate_media(color_scheme="dark")
        two.page.evaluate("() => { document.documentElement.dataset.theme = 'dark'; }")
        two.page.emulate_media(media="print")
        ink, soft, paper = two.page.evaluate(COLOURS)
        # The drawing is made again for paper: at the browser's next step, not within that call.
        corner = "document.getElementById('lanes').getContext('2d').getImageData(2, 2, 1, 1).data"
        two.page.wait_for_function(f"() => {corner}.every((value) => value === 255)", timeout=10_000)
        assert paper.strip() == "#fff" and contrast(soft, "#ffffff") >= 4.5 and ink.strip() == "#000"


class TestLooks:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_text_stands_out_from_its_paper(self, one: Watched, scheme: Any) -> None:
        """WCAG's 4.5 to 1 for words, 3 to 1 for the softer hints."""
        one.page.emulate_media(color_scheme=scheme)
        ink, soft, paper = one.page.evaluate(COLOURS)
        assert contrast(ink, paper) >= 7
        assert contrast(soft, paper) >= 4.5

    def test_the_button_turns_light_into_dark(self, one: Watched) -> None:
        one.page.emulate_media(color_scheme="light")
        before = one.page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        one.page.locator("#theme").click()
        assert one.page.evaluate("() => getComputedStyle(document.body).backgroundColor") != before

    def test_it_fits_a_small_screen(self, one: Watched) -> None:
        one.page.set_viewport_size({"width": 420, "height": 800})
        assert one.page.evaluate("() => document.documentElement.scrollWidth <= 420")

    def test_everything_one_can_press_has_a_name(self, one: Watched) -> None:
        assert one.page.evaluate(UNNAMED) == 0


def contrast(a: str, b: str) -> float:
    """WCAG 2.2's contrast ratio of two `#rrggbb` colours."""
    bright, dark = sorted(map(_luminance, (a.strip(), b.strip())), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] if len(colour) == 7 else [1.0] * 3
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
