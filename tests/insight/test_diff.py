"""What a diff claims of hand-made forwards, and what it must not."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from handmade import ADD, GELU, MUL, TILE_A, TILE_B, events, one, ran
from rung import diff as diff_traces
from rung.errors import UsageError
from rung.insight.compare import RoundTrip, compare
from rung.insight.narrate import changed, unchanged
from tracelib import annotation, kernel, launch, read

SQUARE = [64, 64]
GLU = [ran(GELU, "aten::gelu", SQUARE), ran(MUL, "aten::mul", SQUARE, SQUARE)]
BEFORE = ran(TILE_A, "aten::mm", SQUARE, SQUARE)
BYTES = 64 * 64 * 4


class TestFusion:
    def test_a_compilers_kernel_names_what_it_took_in(self) -> None:
        fused = "triton_poi_fused_gelu_mul_0"
        diff = compare(one(BEFORE, *GLU), one(BEFORE, ran(fused, fused)))
        assert [(f.sources, f.into) for f in diff.fused] == [(("aten::gelu", "aten::mul"), fused)]
        assert [(t.tensor_bytes, t.between) for t in diff.round_trips_removed] == [
            (BYTES, ("aten::gelu", "aten::mul"))
        ]

    def test_a_compilers_kernel_takes_in_no_op_that_it_does_not_name(self) -> None:
        fused = "triton_poi_fused_mul_0"
        diff = compare(one(BEFORE, *GLU), one(BEFORE, ran(fused, fused)))
        assert diff.fused == ()

    def test_it_may_name_the_op_around_the_one_that_launches(self) -> None:
        """`x.float()` runs aten::copy_ inside aten::_to_copy; Inductor names the latter."""
        a = read(
            *events(ran("void toy_copy", "aten::copy_"), ran(MUL, "aten::mul", SQUARE, SQUARE)),
            {**annotation("x", 0.5, 9), "cat": "cpu_op", "name": "aten::_to_copy"},
        )
        fused = "triton_poi_fused__to_copy_mul_0"
        diff = diff_traces(a, read(*events(ran(fused, fused))))
        assert [f.sources for f in diff.fused] == [("aten::copy_", "aten::mul")]

    def test_addmm_takes_in_mm_and_add(self) -> None:
        add = ran(ADD, "aten::add", SQUARE, SQUARE)
        diff = compare(one(BEFORE, add), one(ran(TILE_B, "aten::addmm", SQUARE, SQUARE, SQUARE)))
        assert [f.sources for f in diff.fused] == [("aten::mm", "aten::add")]

    @pytest.mark.parametrize("op", ["LigerGELUMulFunction", "my::gelu_mul", "GeluMul"])
    def test_a_kernel_may_be_named_after_what_it_does(self, op: str) -> None:
        diff = compare(one(BEFORE, *GLU), one(BEFORE, ran("_some_kernel", op)))
        assert [f.sources for f in diff.fused] == [("aten::gelu", "aten::mul")]

    def test_or_read_just_what_the_chain_read(self) -> None:
        diff = compare(one(BEFORE, *GLU), one(BEFORE, ran("_act", "Activation", SQUARE, SQUARE)))
        assert [f.sources for f in diff.fused] == [("aten::gelu", "aten::mul")]

    def test_in_a_model_each_layer_has_its_own(self) -> None:
        fused = [ran(f"triton_poi_fused_gelu_mul_{i}", "x") for i in range(3)]
        a, b = one(*[BEFORE, *GLU] * 3), one(*(k for f in fused for k in (BEFORE, f)))
        diff = compare(a, b)
        assert [f.measured_ns for f in diff.fused] == [5_000] * 3  # two kernels of 5 us, then one
        # One kernel reads two squares and writes one, as mul does in 5 us. In the first two layers gelu's
        # result may be read again, for all that shapes tell: four squares, 6.67 us.
        assert [f.predicted.saved_ns for f in diff.fused] == [3_333, 3_333, 5_000]
        assert changed(diff)[:2] == [
            "aten::gelu and aten::mul became one kernel, triton_poi_fused_gelu_mul_0 or 2 others, "
            "3 times a forward: 15.0 µs less (11.7 µs less predicted)",
            "the [64, 64] result of aten::gelu, 16.4 kB, is no longer written to memory and read back, "
            "3 times a forward",
        ]

    @pytest.mark.parametrize(
        ("small", "said"),
        [
            ([100], ["the [25] result of aten::mean, 100 B, is no longer written to memory and read back"]),
            ([], []),
            (
                [100, 60, 60],
                ["3 smaller results, 220 B in all, are no longer written to memory and read back either"],
            ),
        ],
    )
    def test_small_tensors_share_a_sentence(self, small: list[int], said: list[str]) -> None:
        """Small is less than a twentieth of all: here of 10 kB, and one of them alone is named."""
        shapes = {10_000: (2500,), 100: (25,), 60: (15,)}
        trips = [RoundTrip(size, shapes[size], ("aten::mean", "aten::add")) for size in (10_000, *small)]
        found = replace(compare(one(*GLU), one(*GLU)), round_trips_removed=tuple(trips))
        gone = "is no longer written to memory and read back"
        assert changed(found) == [f"the [2500] result of aten::mean, 10.0 kB, {gone}", *said]


class TestNoFusion:
    def test_another_tile_and_a_vanished_copy(self) -> None:
        seeded = [ran("Memcpy", "aten::addmm"), ran(TILE_A, "aten::addmm", SQUARE, SQUARE, SQUARE)]
        diff = compare(one(*seeded), one(ran(TILE_B, "aten::addmm", SQUARE, SQUARE, SQUARE)))
        assert diff.fused == ()
        assert diff.round_trips_removed == ()
        assert diff.gone == ("Memcpy DtoD (Device -> Device)", TILE_A)
        assert diff.new == (TILE_B,)

    @pytest.mark.parametrize(
        "other",
        [
            pytest.param(ran("void at::native::reduce_kernel<512>", "aten::sum", SQUARE), id="a sum"),
            pytest.param(ran(ADD, "aten::add", SQUARE, SQUARE), id="an add of the same tensors"),
            pytest.param(ran(GELU.replace("<8", "<4"), "aten::gelu", SQUARE), id="one of the two, narrower"),
            pytest.param(ran("mystery", "Mystery", [3, 3]), id="a stranger that reads something else"),
            pytest.param(ran("mystery", "Mystery"), id="a stranger of which nothing is known"),
            pytest.param(ran(TILE_B, "aten::bmm", [2, 8, 8], [2, 8, 8]), id="a matrix product"),
            pytest.param(ran("multi_tensor_apply_kernel", "aten::_foreach_add_"), id="multi is not mul"),
        ],
    )
    def test_what_merely_stands_in_their_place(
        self, other: tuple[str, str, dict[str, object], float]
    ) -> None:
        diff = compare(one(BEFORE, *GLU), one(BEFORE, other))
        assert diff.fused == ()
        assert diff.round_trips_removed == ()
        said = changed(diff)
        assert [s.split(":")[0] for s in said[:3]] == ["gone", "gone", "new"]

    def test_two_for_two(self) -> None:
        others = [ran("k1", "LigerGELUMulFunction"), ran("k2", "LigerGELUMulFunction")]
        assert compare(one(BEFORE, *GLU), one(BEFORE, *others)).fused == ()

    def test_not_across_a_kernel_that_is_still_there(self) -> None:
        """The GEMM between them stays, wherever it stands: nothing can be fused over it."""
        fused = "triton_poi_fused_gelu_mul_0"
        diff = compare(one(GLU[0], BEFORE, GLU[1], BEFORE), one(ran(fused, fused), BEFORE, BEFORE))
        assert diff.fused == ()


class TestSentences:
    def test_nothing_has_changed_of_one_against_itself(self) -> None:
        found = one(BEFORE, *GLU)
        diff = compare(found, found)
        assert changed(diff) == []
        assert unchanged(diff) == [
            "1 GEMM, name for name",
            "the 2 pointwise kernels, name for name",
            "3 launches a forward",
            "GPU time, within its spread: 15.0 µs",
        ]

    def test_what_went_and_came_is_said_once_with_its_sum(self) -> None:
        diff = compare(one(*[ran(MUL, "aten::mul", dur=5)] * 3), one(ran(ADD, "aten::add", dur=2)))
        assert changed(diff)[:2] == [
            "gone: 3 x pointwise mul, 8 wide of aten::mul, 15.0 µs in all",
            "new: pointwise add, 8 wide of aten::add, 2.00 µs",
        ]

    def test_without_times_no_time_is_said(self) -> None:
        diff = compare(one(ran("Memset", "aten::zero_"), *GLU), one(ran("Memcpy", "aten::copy_"), BEFORE))
        with_times, without = changed(diff), changed(diff, times=False)
        assert any("µs" in sentence for sentence in with_times)
        assert not any("µs" in sentence for sentence in [*without, *unchanged(diff, times=False)])
        assert any(s.startswith("new: copy device to device of 4 B, before the GEMM") for s in without)

    def test_times_within_each_others_spread_have_not_changed(self) -> None:
        def forwards(*durations: float) -> list[dict[str, object]]:
            return [
                event
                for i, dur in enumerate(durations)
                for event in events(ran(MUL, "aten::mul", dur=dur), at=100 * i, first=10 * i + 1)
            ]

        a, b = read(*forwards(4, 5, 6)), read(*forwards(5, 5.5, 7))
        assert changed(diff_traces(a, b)) == []
        assert "GPU busy a forward: 5.00 µs -> 2.00 µs (-60 %)" in changed(
            diff_traces(a, read(*forwards(2, 2, 3)))
        )


def test_a_region_that_one_of_them_lacks_is_a_usage_error() -> None:
    a, b = read(*events(*GLU)), read(annotation("other", 0, 10), launch(1, 1, correlation=1))
    with pytest.raises(UsageError, match=r"has no region 'fwd'; it has: other\."):
        diff_traces(a, b, "fwd")


def test_prints_what_it_says() -> None:
    """`print(rung.diff(a, b))` is for people; in HTML, names stay text."""
    before, after = (
        read(annotation("x", 0, 50), launch(1, 1, 7), kernel(name, 5, 10, 7))
        for name in ("<b>one</b>", "two")
    )
    found = diff_traces(before, after)
    assert str(found).startswith("What changed\n  ")
    assert "What stayed the same\n  1 launch a forward" in str(found)
    assert "one" in str(found)
    assert "<b>" not in found._repr_html_()


def test_what_a_kernel_keeps_for_backward_is_still_written() -> None:
    """The gate-up kernel of a training step writes gate and up; only gelu's result stays on the chip."""
    product = ran(TILE_A, "aten::mm", SQUARE, SQUARE)
    saved = ran("rung_gate_up_gelu_tanh_64x64x32_s3_saved", "rung::glu_mlp", SQUARE, SQUARE, SQUARE)
    diff = compare(one(product, product, *GLU), one(saved))
    assert len(diff.fused) == 1
    assert [trip.between for trip in diff.round_trips_removed] == [("aten::gelu", "aten::mul")]
    lean = ran("rung_gate_up_gelu_tanh_64x64x32_s3", "rung::glu_mlp", SQUARE, SQUARE, SQUARE)
    assert len(compare(one(product, product, *GLU), one(lean)).round_trips_removed) == 3


def test_the_same_kernel_many_times_over_takes_no_square_of_time() -> None:
    """20,000 kernels of one name against themselves: 0.01 s; matching each with each is 400 million steps."""
    many = one(*[ran("k", "aten::mm")] * 20_000)
    started = time.process_time()
    found = compare(many, many)
    assert found.fused == () and len(found.same) == 20_000
    assert time.process_time() - started < 5
