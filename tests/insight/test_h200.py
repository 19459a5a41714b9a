"""Forwards and diffs of real recordings. The truth was counted by hand from the files' own events."""

from __future__ import annotations

import pytest

import rung
from recordings import h200
from rung.insight.bound import bound
from rung.insight.compare import RoundTrip
from rung.insight.diff import Diff
from rung.insight.findings import examine, explanations
from rung.insight.forward import Forward, forward
from rung.insight.narrate import changed, unchanged
from rung.insight.spread import Spread

GATE_UP = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT"
DOWN = "nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_TNT"
LINEAR = "nvjet_sm90_tst_64x8_64x16_1x2_h_bz_bias_TNT"
FUSED = "triton_poi_fused__unsafe_view_gelu_mul_0"
ONE_LINEAR = ["t", "transpose", "as_strided", "reshape", "view", "_unsafe_view"]


def look(name: str) -> Forward:
    return forward(rung.read(h200(name)))


def compare(a: str, b: str) -> Diff:
    return rung.diff(rung.read(h200(a)), rung.read(h200(b)))


def explained(name: str) -> list[str]:
    return [one.title for one in explanations(examine(rung.read(h200(name))))]


def counts(found: Forward) -> tuple[int, int, int, int]:
    return found.kernels, found.copies, found.memsets, found.launches


@pytest.mark.parametrize(
    ("name", "region", "expected"),
    [
        ("01_matmul_add_64_bf16_warm_eager", "matmul_add", (2, 0, 0, 2)),
        ("01_matmul_add_64_bf16_cold_eager", "matmul_add", (2, 0, 0, 2)),
        ("01_matmul_add_4096_bf16_warm_eager", "matmul_add", (2, 0, 1, 3)),
        ("01_matmul_add_4096_bf16_cold_eager", "matmul_add", (2, 0, 1, 3)),
        ("01_matmul_add_4096_bf16_warm_compile", "matmul_add", (1, 1, 1, 3)),
        ("02_linear_1024x32x64_eager", "linear_fwd", (1, 0, 0, 1)),
        ("02_linear_1024x32x64_compile", "linear_fwd", (1, 0, 0, 1)),
        ("03_mlp_eager", "mlp_fwd", (5, 0, 2, 7)),
        ("03_mlp_compile", "mlp_fwd", (4, 0, 2, 6)),
        ("03_mlp_liger", "mlp_fwd", (4, 0, 2, 6)),
        ("03_mlp_compile_cudagraph", "mlp_fwd", (5, 0, 2, 2)),
        ("08_h2d_copy_mlp", "copy_mlp", (6, 1, 2, 9)),
    ],
)
def test_what_one_forward_runs(name: str, region: str, expected: tuple[int, int, int, int]) -> None:
    found = look(name)
    assert (found.region, found.instances) == (region, 3)
    assert counts(found) == expected


class TestLinear:
    @pytest.mark.parametrize("variant", ["eager", "compile"])
    def test_the_bias_is_in_the_epilogue(self, variant: str) -> None:
        (row,) = look(f"02_linear_1024x32x64_{variant}").rows
        assert row.name == LINEAR
        assert row.decoded.fields["epilogue"] == ["bias"]
        assert row.op == "aten::addmm"
        assert (row.gemm.m, row.gemm.k, row.gemm.n) == (1024, 32, 64) if row.gemm else False

    def test_t_launches_nothing(self) -> None:
        found = look("02_linear_1024x32x64_eager")
        assert found.launchless_ops == {"aten::t": 1, "aten::transpose": 1, "aten::as_strided": 1}
        trace = found.example.trace
        assert len(trace.kernels) == 3
        for kernel in trace.kernels:
            assert [op.name for op in trace.chain(kernel).ops] == ["aten::linear", "aten::addmm"]

    def test_compiled_runs_the_same_kernel(self) -> None:
        diff = compare("02_linear_1024x32x64_eager", "02_linear_1024x32x64_compile")
        assert diff.same == (LINEAR,)
        assert (diff.gone, diff.new, diff.fused, diff.round_trips_removed) == ((), (), (), ())
        assert "1 GEMM, name for name" in unchanged(diff)

    def test_what_explains_it(self) -> None:
        said = " | ".join(explained("02_linear_1024x32x64_eager"))
        assert "aten::addmm is one kernel (its name says bias): the bias rides in the GEMM's epilogue" in said
        assert "3 ops launch nothing, they only rewrite shape and stride: t, transpose and as_strided" in said


class TestMLP:
    def test_kernels_in_turn(self) -> None:
        found = look("03_mlp_eager")
        memset, first, _, second, gelu, mul, down = found.rows
        assert [row.kind for row in found.kernel_rows] == ["gemm", "gemm", "pointwise", "pointwise", "gemm"]
        assert memset.category == "memset"
        assert memset.work.nbytes == 4
        assert (first.name, second.name, down.name) == (GATE_UP, GATE_UP, DOWN)
        assert first.decoded.fields["tile"] == [256, 128, 64]
        assert down.decoded.fields["tile"] == [192, 128, 64]
        # 2 x 8192 x 768 x 3072 whichever way round
        assert {row.work.flop for row in (first, second, down)} == {38_654_705_664}
        # [64, 128, 3072] bf16 is 50_331_648 B: one read and one write, two reads and one write
        assert (gelu.op, gelu.work.nbytes) == ("aten::gelu", 100_663_296)
        assert (mul.op, mul.work.nbytes) == ("aten::mul", 150_994_944)

    def test_times_are_medians_over_the_three_forwards(self) -> None:
        found = look("03_mlp_eager")
        assert found.rows[1].dur_ns == Spread(56_575, 56_224, 56_639)
        assert found.rows[4].dur_ns == Spread(29_856, 29_824, 31_009)
        assert found.cpu_ns == Spread(160_559, 152_890, 274_006)

    def test_each_linear_rewrites_shapes_six_times(self) -> None:
        assert look("03_mlp_eager").launchless_ops == {f"aten::{op}": 3 for op in ONE_LINEAR}

    def test_what_explains_it(self) -> None:
        *said, last = explained("03_mlp_eager")
        assert said == [
            "aten::linear walks through t, transpose, as_strided, matmul, reshape, view, mm and "
            "_unsafe_view: 9 names, one kernel",
            "18 ops launch nothing, they only rewrite shape and stride: "
            "t, transpose, as_strided, reshape, view and _unsafe_view (16.5 µs of CPU time)",
            "the layout is in the names of 3 GEMMs: TNT is x @ w.T as nn.Linear stores it",
            "2 memsets (4 B each, 1.57 µs in all) belong to the GEMM library, right before its kernels",
            "aten::mm is not one kernel but 2: "
            "GEMM 256x128x64, 4 stages, TNT for [8192, 768] x [768, 3072] at 683 TFLOP/s and "
            "GEMM 192x128x64, 5 stages, TNT for [8192, 3072] x [3072, 768] at 745 TFLOP/s; "
            "the library picks by shape and dtype",
        ]
        assert last.startswith("GLU activation: gelu and mul pass tensors through memory, 101 MB that one")

    def test_the_compiler_fuses_gelu_and_mul_and_leaves_the_gemms(self) -> None:
        diff = compare("03_mlp_eager", "03_mlp_compile")
        assert (counts(diff.a), counts(diff.b)) == ((5, 0, 2, 7), (4, 0, 2, 6))
        assert [name for name in diff.same if name != "Memset (Device)"] == [GATE_UP, GATE_UP, DOWN]
        (fusion,) = diff.fused
        assert (fusion.sources, fusion.into) == (("aten::_unsafe_view", "aten::gelu", "aten::mul"), FUSED)
        trip = RoundTrip(50_331_648, (64, 128, 3072), ("aten::gelu", "aten::mul"))
        assert diff.round_trips_removed == (trip,)
        assert diff.new == (FUSED,)
        assert len(diff.gone) == 2
        said = changed(diff)
        assert "launches a forward: 7 -> 6" in said
        assert any(s.startswith("every call now pays Dynamo's cache look-up, guards and") for s in said)
        assert "the 3 GEMMs, name for name" in unchanged(diff)
        assert not [s for s in said if s.startswith(("gone:", "new:"))]

    def test_liger_fuses_the_same_without_a_compiler(self) -> None:
        diff = compare("03_mlp_eager", "03_mlp_liger")
        (fusion,) = diff.fused
        assert (fusion.sources, fusion.into) == (("aten::gelu", "aten::mul"), "_geglu_tanh_forward_kernel")
        assert [row.kind for row in diff.b.kernel_rows] == ["gemm", "gemm", "pointwise", "gemm"]
        assert [trip.tensor_bytes for trip in diff.round_trips_removed] == [50_331_648]
        assert not any("Dynamo" in sentence for sentence in changed(diff))

    def test_a_graph_is_one_copy_of_the_input_and_one_launch(self) -> None:
        found = look("03_mlp_compile_cudagraph")
        copy, *replayed = found.rows
        assert copy.op == "aten::_foreach_copy_"
        assert "multi_tensor_apply" in copy.name
        assert not copy.graph
        assert all(row.graph and row.launch == "cudaGraphLaunch" for row in replayed)
        assert [row.category for row in replayed].count("kernel") == 4
        assert [row.category for row in replayed].count("memset") == 2
        # no op inside a replayed graph tells a shape
        assert {(row.gemm, row.work.flop) for row in replayed} == {(None, None)}

    def test_a_graph_in_a_diff(self) -> None:
        diff = compare("03_mlp_eager", "03_mlp_compile_cudagraph")
        assert [fusion.into for fusion in diff.fused] == [FUSED]
        said = changed(diff)
        assert "one cudaGraphLaunch replays 4 kernels and 2 memsets" in said
        assert "launches a forward: 7 -> 2" in said
        assert any(s.startswith("new: pointwise copy of aten::_foreach_copy_") for s in said)

    def test_another_dtype_is_said(self) -> None:
        said = changed(compare("03_mlp_eager", "03_mlp_fp32_eager"))
        assert said[0] == "matrix products in fp32 instead of bf16"

    def test_a_graph_break_is_said(self) -> None:
        said = changed(compare("03_mlp_compile", "03_mlp_compile_graph_break"))
        assert (
            "graph breaks a call: 0 -> 1: the compiler was interrupted, after view + gelu, before aten::mm"
        ) in said

    def test_recompilations_are_said_with_their_seconds(self) -> None:
        said = changed(compare("03_mlp_compile", "03_mlp_compile_recompile"))
        assert "2 recompilations, 2.73 s in all: in calls 3 and 5" in said

    def test_what_the_cpu_pays_is_said_though_the_first_step_is_wide(self) -> None:
        """Eager 193, 77, 67 us, compiled 395, 193, 168: the ranges meet, the better halves do not."""
        said = changed(compare("02_linear_1024x32x64_eager", "02_linear_1024x32x64_compile"))
        assert "CPU a forward: 76.7 µs -> 193 µs (2.5x)" in said

    def test_a_gemm_of_another_shape_took_nothing_in(self) -> None:
        """Three mm of an MLP against one addmm of another size: other work, no fusion."""
        diff = compare("03_mlp_eager", "02_linear_1024x32x64_eager")
        assert (diff.fused, diff.round_trips_removed) == ((), ())
        assert changed(diff)[0].startswith("A and B do different work: matrix products of [8192, ")


class TestMatmulAdd:
    def test_a_copy_on_the_device_reads_and_writes_each_byte(self) -> None:
        """33_554_432 B in 15.3 us, there and back: 4.4 TB/s, as the add beside it moves."""
        found = look("01_matmul_add_4096_bf16_warm_compile")
        (copy,) = [row for row in found.rows if row.category == "copy"]
        assert copy.bytes_per_s == pytest.approx(2 * 33_554_432 / copy.dur_ns.median * 1e9)
        assert 4.2e12 < copy.bytes_per_s < 4.6e12

    def test_compiled_the_add_is_gone_and_a_copy_has_come(self) -> None:
        diff = compare("01_matmul_add_4096_bf16_warm_eager", "01_matmul_add_4096_bf16_warm_compile")
        assert any("CUDAFunctor_add" in name for name in diff.gone)
        assert "Memcpy DtoD (Device -> Device)" in diff.new
        (copy,) = [row for row in diff.b.rows if row.category == "copy"]
        assert (copy.op, copy.work.nbytes) == ("aten::addmm", 33_554_432)
        assert (diff.a.launches, diff.b.launches) == (3, 3)
        assert "3 launches a forward" in unchanged(diff)
        assert any("new: copy device to device of 33.6 MB" in sentence for sentence in changed(diff))

    def test_no_round_trip_is_saved_where_a_copy_of_that_size_has_come(self) -> None:
        diff = compare("01_matmul_add_4096_bf16_warm_eager", "01_matmul_add_4096_bf16_warm_compile")
        assert [fusion.sources for fusion in diff.fused] == [("aten::mm", "aten::add")]
        assert diff.round_trips_removed == ()

    def test_the_copied_bias_is_seen_and_no_epilogue_claimed(self) -> None:
        said = " | ".join(explained("01_matmul_add_4096_bf16_warm_compile"))
        assert "inside aten::addmm 33.6 MB are copied on the device before the GEMM" in said
        assert "rides in the GEMM's epilogue" not in said

    def test_small_work_waits_for_the_cpu(self) -> None:
        found = look("01_matmul_add_64_bf16_warm_eager")
        # busy 2.816, 2.752 and 2.785 us of 134.5, 52.5 and 44.5 us
        assert (found.gpu_busy_ns.median, found.wall_ns.median) == (2_785, 52_509)
        assert found.gpu_idle_share > 0.9
        assert bound(found).limit == "overhead-bound"
        assert "95 % idle" in bound(found).sentence

    def test_big_work_does_not(self) -> None:
        assert bound(look("01_matmul_add_4096_bf16_warm_eager")).limit == "compute-bound"

    @pytest.mark.parametrize("size", [64, 4096])
    @pytest.mark.parametrize(("state", "fires"), [("cold", True), ("warm", False)])
    def test_cold_is_said_of_cold_recordings_alone(self, size: int, state: str, fires: bool) -> None:
        said = explained(f"01_matmul_add_{size}_bf16_{state}_eager")
        assert said[0].startswith("the first matmul_add takes ") is fires


def test_a_recording_against_itself_has_not_changed() -> None:
    diff = compare("07_mlp_train_eager", "07_mlp_train_eager")
    assert counts(diff.a) == (22, 1, 4, 27)
    assert len(diff.same) == 27
    assert (diff.gone, diff.new, diff.fused, diff.round_trips_removed) == ((), (), (), ())
    assert changed(diff) == []


def test_a_model_repeats_itself_and_the_sentences_do_not() -> None:
    """The first RMSNorm of the Llama converts, squares, averages, ...; each of the 16 others adds before:
    each sort is said once."""
    diff = compare("06_llama_eager", "06_llama_compile")
    said = changed(diff)
    assert len(said) == len(set(said))
    fused = [s for s in said if "became one kernel" in s]
    assert len(fused) == 2
    assert "aten::pow, aten::mean, aten::add, aten::rsqrt and 2 x aten::mul became one kernel" in fused[0]
    assert " times a forward" not in fused[0]
    assert "aten::pow, aten::mean, aten::rsqrt and 2 x aten::mul became one kernel" in fused[1]
    assert ", 16 times a forward: " in fused[1]
