"""What the terminal shows: whole lines where it is narrow, names as they are."""

from __future__ import annotations

import pytest
from rich.text import Text

import rung
from handmade import GELU, MUL, TILE_A, events, one, ran
from recordings import h200
from rung.insight.forward import forward
from rung.insight.tree import tree
from rung.show import kernels
from rung.show.diff import SideBySide, headings, point, verdict
from rung.show.fitting import Phrases, Unbroken
from rung.show.read import report, summary
from rung.trace import Trace
from shown import shown
from tracelib import annotation, kernel, launch, op, read

HOSTILE = [
    "[bold]loud[/bold]", "[/]", "[link=http://x]y", ":dog:", "\x1b[31mred", "a\tb\x07\x7f\x9b",
    "a\n::error::b",
]  # fmt: skip


def page(trace: Trace, width: int = 120, **options: bool) -> str:
    found = forward(trace)
    return shown(report(trace, [found], tree(found.example), **options), width)


class TestNarrow:
    def test_phrases_break_between_and_never_inside(self) -> None:
        phrases = Phrases(Text("mlp_fwd, median of 3"), Text("5 kernels"), Text(""), Text("GPU 233 µs"))
        assert shown(phrases, 60) == "mlp_fwd, median of 3   5 kernels   GPU 233 µs"
        assert shown(phrases, 34) == "mlp_fwd, median of 3   5 kernels\n  GPU 233 µs"
        assert shown(phrases, 25) == "mlp_fwd, median of 3\n  5 kernels   GPU 233 µs"

    def test_at_80_columns_each_kernel_keeps_its_line(self) -> None:
        lines = page(rung.read(h200("03_mlp_eager")), 80).splitlines()
        assert max(map(len, lines)) <= 80
        row = next(line for line in lines if line.startswith("1  "))
        assert row.split("  ", 2)[2].split() == [
            "GEMM", "256x128x64,", "4", "stages,", "TNT", "38.7", "GFLOP", "56.6", "µs", "683", "TFLOP/s",
        ]  # fmt: skip
        (headings,) = (line for line in lines if line.startswith("#  "))
        assert headings.split() == ["#", "op", "kernel", "work", "time", "rate"]
        assert lines[-2:] == ["", "columns left out at this width: shapes"]

    def test_where_there_is_room_the_shapes_are_there(self) -> None:
        text = page(rung.read(h200("03_mlp_eager")), 120)
        assert "[8192, 768] x [768, 3072]" in text

        assert "left out" not in text

    @pytest.mark.parametrize("width", [60, 40, 20])
    def test_however_narrow_a_number_is_whole(self, width: int) -> None:
        """What does not fit is left out whole, and named."""
        text = page(rung.read(h200("03_mlp_eager")), width)
        assert any(line.startswith("1  ") and "56.6 µs" in line for line in text.splitlines())
        said = " ".join(text.split()).rpartition("columns left out at this width: ")[2]
        assert said.startswith("shapes")
        assert ("rate" in said, "op" in said) == (width <= 40, width <= 20)

    def test_variants_that_do_not_fit_beside_each_other_follow_below(self) -> None:
        """A column is 16 wide with its gap, the names 18: at 60 two of three fit."""
        found = forward(rung.read(h200("03_mlp_eager")))
        wide = shown(SideBySide(("a", "b", "c"), (found,) * 3), 80).splitlines()
        narrow = shown(SideBySide(("a", "b", "c"), (found,) * 3), 50).splitlines()
        assert wide[0].split() == ["a", "b", "c"]
        first, below = narrow[: narrow.index("")], narrow[narrow.index("") + 1 :]
        assert (first[0].split(), below[0].split()) == (["a", "b"], ["c"])
        rows = [line.split()[0] for line in wide[1:]]
        assert [line.split()[0] for line in first[1:]] == [line.split()[0] for line in below[1:]] == rows
        assert "…" not in "".join(narrow)

    def test_a_line_to_copy_is_one_line(self) -> None:
        assert shown(Unbroken("\nNext: rung read a\nb.json"), 40) == "\nNext: rung read a␊b.json"

    def test_a_sentence_wraps_beside_its_dot(self) -> None:
        assert shown(point("one two three four"), 14) == "  · one two\n    three four"


class TestNames:
    @pytest.mark.parametrize("name", HOSTILE)
    def test_they_are_text_wherever_they_stand(self, name: str) -> None:
        trace = read(annotation(name, 0, 50), op(name, 1, 20), launch(2, 1, 1), kernel(name, 10, 5, 1))
        found = forward(trace)
        visible = "".join(chr(0x2400 + ord(c)) if ord(c) < 32 else c for c in name)
        visible = visible.replace("\x7f", "␡").replace("\x9b", "�")
        text = page(trace)
        assert text.count(visible) >= 3
        many = shown(kernels.gathered(found.rows))
        diffed = shown(verdict([f"gone: {name}"], []))
        assert visible in many
        assert visible in diffed
        for part in (text, many, diffed):
            assert not set(part) & {"\x1b", "\x07", "\x7f", "\x9b", "\t"}

    def test_only_our_own_colours_steer_the_terminal(self) -> None:
        trace = read(annotation("fwd\x1b[2J", 0, 50), launch(2, 1, 1), kernel("k\x1b[0m", 10, 5, 1))
        text = shown(summary(forward(trace)), colour=True)
        assert "fwd␛[2J" in text
        assert "\x1b[2J" not in text
        assert "\x1b[1m" in text


class TestKernels:
    def test_copies_and_memsets_have_no_number(self) -> None:
        rows = one(ran("Memset", "aten::mm"), ran(TILE_A, "aten::mm"), ran(TILE_A, "aten::mm")).rows
        lines = shown(kernels.in_order(rows)).splitlines()
        assert [line[:2].strip() for line in lines] == ["#", "", "1", "2"]
        assert "same kernel as 1" in lines[3]

    def test_a_time_that_is_not_measured_has_a_tilde_and_no_rate(self) -> None:
        rows = one(ran(GELU, "aten::gelu", [64, 64]), ran(MUL, "aten::mul", [64, 64], [64, 64])).rows
        _, gelu, mul = shown(kernels.in_order(rows, {GELU})).splitlines()
        assert "~5.00 µs" in gelu
        assert "/s" not in gelu
        assert "~" not in mul
        assert mul.endswith("9.83 GB/s")  # 3 x 16_384 B in 5 us

    def test_of_many_the_dearest_names_are_listed_and_the_rest_summed(self) -> None:
        rows = one(*(ran(f"k{i:02}", "x", dur=i % 9 + 0.1) for i in range(40))).rows
        lines = shown(kernels.gathered(rows, limit=10)).splitlines()
        assert len(lines) == 12
        assert "30 other names" in lines[-1]
        shares = [float(line.split()[-2]) for line in lines[1:]]
        assert sum(shares) == pytest.approx(100, abs=6)

    def test_many_kernels_are_gathered_unless_all_are_wanted(self) -> None:
        trace = read(*events(*(ran(f"k{i}", "x") for i in range(31))))
        assert "--all lists every kernel" in page(trace)
        assert "the way to each kernel" in page(trace, everything=True)


class TestSaid:
    def test_a_cpu_only_trace_says_so_in_every_view(self) -> None:
        trace = read(annotation("fwd", 0, 50), op("aten::mm", 1, 9))
        found = forward(trace)
        assert "stand in for kernels" in page(trace)
        from rung.insight.compare import compare

        text = "\n".join(map(shown, headings(compare(found, found))))
        assert text.count("stand in for kernels") == 2
        assert "GPU" not in shown(SideBySide(("A", "B"), (found, found)))

    def test_nothing_is_said_to_be_nothing(self) -> None:
        assert shown(verdict([], [])).splitlines() == [
            "What changed", "  · nothing", "", "What stayed the same", "  · nothing",
        ]  # fmt: skip

    def test_a_region_without_work(self) -> None:
        text = page(read(annotation("fwd", 0, 50)))
        assert "fwd   0 kernels   CPU 50.0 µs" in text
        assert "no GPU activity in this trace" in text

    def test_times_stand_against_the_first(self) -> None:
        a, b = one(ran("k", "x", dur=4)), one(ran("k", "x", dur=6))
        assert "4.00 µs  6.00 µs (+50 %)" in shown(SideBySide(("A", "B"), (a, b)))
