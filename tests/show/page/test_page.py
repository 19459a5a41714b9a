"""The page as a file: what it says, what it weighs, and that a name in a trace can do nothing in it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from itertools import accumulate

import pytest

from handmade import GELU, MUL, events, ran
from recordings import h200
from rung.insight.exhibit import exhibit
from rung.insight.guess import guess
from rung.insight.timeline import timeline
from rung.show.page import Scene, page
from rung.trace import Trace
from rung.trace import read as read_file
from tracelib import annotation, kernel, launch, op, read

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<!--<script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "\u202egnp.exe",
    "line\nbreak\x1b[31m",
    "k" * 10_000,
]
VOID = {"meta", "input", "br", "link"}


class Page(HTMLParser):
    """The elements of a page, its text, and whether every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.inside: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("script", "style"):
            self.inside[f"{self.open[-1]} {self.tags[-1][1].get('type')}"] = data
        else:
            self.words.append(data)


def made(*traces: Trace) -> str:
    laid_out = [exhibit(trace, f"variant {i}") for i, trace in enumerate(traces)]
    return page([Scene("Side by side", tuple(laid_out))])


def hostile() -> Trace:
    """Each hostile text as the name of a region, an op and a kernel, and as a shape's neighbour."""
    rows = [annotation(HOSTILE[0], 0, 100)]
    for i, name in enumerate(HOSTILE, start=1):
        rows += [op(name, 10 * i, 8, **{"Input Dims": [[4]], "Input type": [name]}), launch(10 * i + 1, 2, i)]
        rows.append(kernel(name, 10 * i + 4, 4, i))
    return read(*rows)


class TestHostileNames:
    def test_they_are_text(self) -> None:
        parsed = Page(made(hostile()))
        shown = "".join(parsed.words)
        assert "<script>alert(1)</script>" in shown
        assert '"><img src=x onerror=alert(1)>' in shown
        assert "{{ 7 * 7 }}" in shown

    def test_they_make_no_element_and_no_attribute(self) -> None:
        harmless, bad = Page(made(read(*events(ran(GELU, "aten::gelu"))))), Page(made(hostile()))
        assert {tag for tag, _ in bad.tags} <= {tag for tag, _ in harmless.tags} | {"img"} - {"img"}
        assert sum(tag == "script" for tag, _ in bad.tags) == 2
        assert not any(name.startswith("on") for _, attributes in bad.tags for name in attributes)

    def test_in_the_data_no_angle_is_raw(self) -> None:
        data = Page(made(hostile())).inside["script application/json"]
        assert "<" not in data and ">" not in data and "&" not in data
        names = json.loads(data)[0]["names"]
        assert "</script><script>alert(1)</script>" in names
        assert "k" * 10_000 in names

    def test_what_turns_text_around_is_made_visible(self) -> None:
        text = made(hostile())
        assert "\u202e" not in text and "\x1b" not in text
        assert "\\u202egnp.exe" in "".join(Page(text).words)

    @pytest.mark.parametrize("said", ["x", 5, ["x"], {"versions": "x"}, {"versions": {"torch": ["<b>"]}}])
    def test_what_a_trace_says_of_its_making_may_be_anything(self, said: object) -> None:
        parsed = Page(made(read(*events(ran(GELU, "aten::gelu")), rung=said)))
        assert parsed.open == []
        assert "<b>" not in "".join(parsed.inside.values())

    def test_a_long_name_is_cut_where_it_would_hide_the_rest(self) -> None:
        """10 kB stand whole in the timeline's data alone."""
        long = "k" * 10_000
        rows = [annotation(long, 0, 50), op(long, 1, 8), launch(2, 1, 1), kernel(long, 5, 9, 1)]
        parsed = Page(made(read(*rows)))
        assert max(len(word) for word in parsed.words) < 2_000
        assert any("\u2026 (9,840 more letters)" in word for word in parsed.words)
        assert long in json.loads(parsed.inside["script application/json"])[0]["names"]

    def test_side_by_side_as_well(self) -> None:
        parsed = Page(made(hostile(), hostile()))
        assert parsed.open == []
        assert sum(tag == "script" for tag, _ in parsed.tags) == 2


class TestAlone:
    def test_it_asks_nobody_for_anything(self) -> None:
        parsed = Page(made(read_file(h200("03_mlp_eager")), read_file(h200("03_mlp_compile"))))
        for _, attributes in parsed.tags:
            for name in ("src", "href", "action", "data", "poster", "srcset"):
                assert (attributes.get(name) or "#").startswith("#")

    def test_its_policy_names_its_own_script_and_style_alone(self) -> None:
        parsed = Page(made(read(*events(ran(GELU, "aten::gelu")))))
        (policy,) = [a["content"] for t, a in parsed.tags if t == "meta" and "http-equiv" in a]
        assert policy is not None and policy.startswith("default-src 'none';")
        for kind, what in (("script", "script module"), ("style", "style None")):
            digest = base64.b64encode(hashlib.sha256(parsed.inside[what].encode()).digest()).decode()
            assert f"{kind}-src 'sha256-{digest}'" in policy

    @pytest.mark.parametrize("name", ["03_mlp_eager", "03_mlp_compile", "07_mlp_train_eager"])
    def test_an_mlp_weighs_less_than_a_megabyte(self, name: str) -> None:
        text = made(read_file(h200(name)))
        assert len(text.encode()) < 1_000_000
        assert Page(text).open == []


class TestSays:
    def test_verdict_findings_and_kernels(self) -> None:
        words = " ".join(Page(made(read_file(h200("03_mlp_eager")))).words)
        assert "compute-bound: the GPU works 233 µs" in words
        assert "fusible-glu" in words and "rung.glu.GLUMLP" in words
        assert words.count("38.7 GFLOP") == 3
        assert "idle 8.42 µs, 4 %" in re.sub(r"\s+", " ", words)

    def test_findings_of_several_regions_say_of_which(self) -> None:
        """Two regions of another name, each of small kernels far apart."""
        rows = [
            one
            for i, name in enumerate(("first", "second"))
            for one in (
                annotation(name, 1000 * i, 500),
                *(launch(1000 * i + 100 * j, 5, 9 * i + j + 1) for j in range(4)),
                *(kernel("k", 1000 * i + 100 * j + 10, 2, 9 * i + j + 1) for j in range(4)),
            )
        ]
        words = Page(made(read(*rows))).words
        assert "in first" in words and "in second" in words
        assert (
            "in fwd" not in Page(made(read(*events(ran(GELU, "aten::gelu"))))).words
        )  # one region needs no name

    def test_what_changed_between_two(self) -> None:
        words = "".join(Page(made(read_file(h200("03_mlp_eager")), read_file(h200("03_mlp_compile")))).words)
        assert "became one kernel, triton_poi_fused__unsafe_view_gelu_mul_0" in words
        assert "the 3 GEMMs, name for name" in words

    def test_what_is_not_whole_is_said(self) -> None:
        parsed = Page(made(read(*events(ran(GELU, "aten::gelu"))[:-1])))
        assert any("launch" in word for word in parsed.words)

    @pytest.mark.parametrize("levels", [39, 500, 1400])
    def test_a_deep_tree_ends_and_says_so(self, levels: int) -> None:
        """However deep, the page is made; lines too deep for it are counted."""
        nested = [op(f"aten::level{i}", i, 2 * (levels - i) + 10) for i in range(levels)]
        at = levels + 1
        parsed = Page(made(read(*nested, launch(at, 1, 1), kernel("k", at + 1, 2, 1))))
        said = [word for word in parsed.words if "too deep for this page" in word]
        # below the 40th level: the remaining ops, and the kernel
        assert said == (
            [f"{levels - 40 + 1} more lines inside, too deep for this page: rung read --all lists them."]
            if levels > 40
            else []
        )

    def test_kernels_beyond_a_thousand_are_counted(self) -> None:
        many = [ran(f"kernel_{i}", "aten::mm", dur=2 + (i == 1007)) for i in range(1010)]
        parsed = Page(made(read(*events(*many))))
        rows = [a for t, a in parsed.tags if t == "tr" and "data-row" in a]
        assert len(rows) == 1000
        assert "kernel_1007" in {a.get("title") for t, a in parsed.tags if t == "td"}  # the longest
        assert any("and 10 more kernels, 20.0 \u00b5s together" in word for word in parsed.words)

    def test_many_kernels_are_listed_by_kind(self) -> None:
        """300 kernels of two names: two rows, each with how often it ran."""
        pair = [ran(GELU, "aten::gelu", [64], dur=2), ran(MUL, "aten::mul", [64], [64], dur=3)]
        parsed = Page(made(read(*events(*pair * 150))))
        rows = [a for t, a in parsed.tags if t == "tr" and "data-row" in a]
        assert len(rows) == 2
        values = [a.get("data-value") for t, a in parsed.tags if t == "td"]
        assert values.count("150") == 2
        assert values.count("450000") == 1  # 150 of mul, 3 us each


class TestRung:
    """The page of a whole rung: several scenes, and a guess beside the truth."""

    TRACE = read(*events(ran(GELU, "aten::gelu", [64]), ran(MUL, "aten::mul", [64], [64])))

    def test_the_guess_stands_beside_the_truth(self) -> None:
        judged = guess("kernels=3", "pointwise=2").check(self.TRACE)
        words = " ".join(Page(page([Scene("64", (exhibit(self.TRACE, "eager"),), judged)])).words)
        said = re.sub(r"\s+", " ", words)
        assert "kernels == 3 2 no" in said
        assert "pointwise == 2 2 yes" in said
        assert "The guess does not hold." in said

    def test_each_scene_has_its_own_variants_and_the_rung_its_lesson(self) -> None:
        two = tuple(exhibit(self.TRACE, label) for label in ("eager", "compiled"))
        scenes = [Scene(size, two) for size in ("64", "4096")]
        parsed = Page(page(scenes, "A rung", "Two launches."))
        assert sum(attributes.get("role") == "tab" for _, attributes in parsed.tags) == 4
        assert sum(attributes.get("class") == "scene" for _, attributes in parsed.tags) == 2
        assert "Two launches." in parsed.words


class TestNumbers:
    def test_the_scripts_get_every_span(self) -> None:
        trace = read_file(h200("03_mlp_eager"))
        (data,) = json.loads(Page(made(trace)).inside["script application/json"])
        drawn = timeline(trace)
        for lane, packed in zip(drawn.lanes, data["lanes"], strict=True):
            assert list(accumulate(packed["start"])) == lane.start_ns.tolist()
            assert packed["dur"] == lane.dur_ns.tolist()
            assert [data["names"][n] for n in packed["name"]] == [drawn.names[n] for n in lane.name.tolist()]

    def test_every_kernel_of_the_region_has_its_facts(self) -> None:
        (data,) = json.loads(Page(made(read_file(h200("03_mlp_eager")))).inside["script application/json"])
        (gpu,) = [lane for lane in data["lanes"] if lane["kind"] == "gpu"]
        assert gpu["fact"] == [0, 1, 2, 3, 4, 5, 6] * 3
        assert ["work", "38.7 GFLOP"] in data["facts"][1]

    def test_a_reduced_timeline_says_so(self) -> None:
        laid_out = exhibit(read_file(h200("06_llama_eager")), "llama", most=1000)
        words = "".join(Page(page([Scene("", (laid_out,))])).words)
        shown = laid_out.timeline.shown
        assert 500 < shown < 1000  # names count as well
        assert f"the timeline shows {shown:,} of 6,268 spans, the longest ones: none left out is" in words
