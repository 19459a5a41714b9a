"""Which kernels run: epilogues, copies nobody wrote, tiles, layouts, precision, the compiler's own."""

from __future__ import annotations

from typing import Any

import pytest

from handmade import ADD, GELU, MUL, TILE_A, TILE_B, events, ran, tensors
from rung.trace import Trace
from seen import recorded, seen, the_one
from tracelib import annotation, call, copy, kernel, launch, memset, op, read

SQUARE = [64, 64]
ADDMM = ran(TILE_A, "aten::addmm", [64], SQUARE, SQUARE)


class TestBiasInEpilogue:
    def test_one_kernel_for_addmm(self) -> None:
        assert the_one("bias-in-epilogue", read(*events(ADDMM))).title == (
            "aten::addmm is one kernel: the bias rides in the GEMM's epilogue, there is no aten::add"
        )

    @pytest.mark.parametrize("variant", ["eager", "compile"])
    def test_whose_name_says_so(self, variant: str) -> None:
        found = the_one("bias-in-epilogue", recorded(f"02_linear_1024x32x64_{variant}"))
        assert found.title.startswith(
            "aten::addmm is one kernel (its name says bias): the bias rides in the GEMM's"
        )
        assert (found.evidence["addmm"], found.evidence["named_bias"]) == (1, 1)

    def test_a_residual_add_beside_it_is_another_matter(self) -> None:
        found = the_one(
            "bias-in-epilogue", read(*events(ADDMM, ran(ADD, "aten::add", SQUARE, SQUARE), ADDMM))
        )
        assert found.title.startswith("all 2 aten::addmm are one kernel each: the bias rides")

    @pytest.mark.parametrize(
        "kernels",
        [
            pytest.param([ran(TILE_A, "aten::mm", SQUARE, SQUARE)], id="no bias"),
            pytest.param([ran(TILE_A, "aten::addmm", SQUARE, SQUARE, SQUARE)], id="a matrix is no bias"),
        ],
    )
    def test_else_not(self, kernels: list[Any]) -> None:
        assert seen("bias-in-epilogue", read(*events(*kernels))) == []

    @pytest.mark.parametrize(
        "second", [kernel("splitKreduce_kernel", 9, 1, 2), kernel(ADD, 9, 1, 2), copy(3, 1, 2)]
    )
    def test_not_where_addmm_runs_something_else_too(self, second: Any) -> None:
        assert seen("bias-in-epilogue", read(*events(ADDMM), launch(5, 1, 2), second)) == []

    def test_on_a_cpu_one_op_does_both(self) -> None:
        said = the_one(
            "bias-in-epilogue", read(annotation("fwd", 0, 50), op("aten::addmm", 1, 20), device=None)
        )
        assert said.title == "aten::addmm multiplies and adds the bias in one op, there is no aten::add"


class TestHiddenMemsets:
    def in_one_op(self, **args: Any) -> Trace:
        return read(
            annotation("fwd", 0, 50),
            op("aten::mm", 1, 20),
            call("cudaMemsetAsync", 2, 1, correlation=1),
            launch(4, 1, 2),
            memset(10, 1, 1, **args),
            kernel(TILE_A, 12, 5, 2),
        )

    def test_one_from_the_op_of_the_gemm_behind_it_is_the_librarys(self) -> None:
        found = the_one("hidden-copy", self.in_one_op(bytes=4))
        assert found.title == "a memset (4 B, 1.00 µs) belongs to the GEMM library, right before its kernel"
        assert (found.cost_ns, found.share) == (1_000, 1_000 / 50_000)

    def test_of_unknown_size(self) -> None:
        title = the_one("hidden-copy", self.in_one_op()).title
        assert title == "a memset (1.00 µs) belongs to the GEMM library, right before its kernel"

    def test_two_of_cublas(self) -> None:
        found = the_one("hidden-copy", recorded("03_mlp_eager"))
        assert found.title == (
            "2 memsets (4 B each, 1.57 µs in all) belong to the GEMM library, right before its kernels"
        )
        assert found.cost_ns == 768 + 800  # medians of 768, 768, 768 and 800, 768, 800 ns

    def test_one_from_another_op_is_not(self) -> None:
        gemm = ran(TILE_A, "aten::mm", SQUARE, SQUARE)
        assert seen("hidden-copy", read(*events(ran("Memset", "aten::zero_"), gemm))) == []

    def test_in_a_graph_and_without_ops_nobody_knows_whose_it_is(self) -> None:
        work = [memset(10, 1, 1), kernel(TILE_A, 12, 5, 1)]
        graph = [op("Torch-Compiled Region: 0/0", 1, 20), call("cudaGraphLaunch", 2, 5, correlation=1)]
        assert seen("hidden-copy", read(annotation("fwd", 0, 50), *graph, *work)) == []
        loose = [call("cudaMemsetAsync", 2, 1, correlation=1), launch(4, 1, 2)]
        apart = [memset(10, 1, 1), kernel(TILE_A, 12, 5, 2)]
        assert seen("hidden-copy", read(annotation("fwd", 0, 50), *loose, *apart)) == []


class TestCopiedBias:
    KERNEL = (
        "void at::native::unrolled_elementwise_kernel<"
        "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#1}>"
    )

    def seeded(self, seed: Any, by: str = "aten::addmm") -> Trace:
        launches = [call("cudaMemcpyAsync", 2, 1, correlation=1), launch(4, 1, 2)]
        return read(annotation("fwd", 0, 50), op(by, 1, 20), *launches, seed, kernel(TILE_A, 20, 5, 2))

    @pytest.mark.parametrize("seed", [copy(10, 3, 1, bytes=64), kernel(KERNEL, 10, 3, 1)])
    def test_is_told_as_it_looks(self, seed: Any) -> None:
        found = the_one("hidden-copy", self.seeded(seed))
        assert "copied on the device before the GEMM, 3.00 µs: it looks like the bias copied" in found.title
        assert found.cost_ns == 3_000

    def test_33_megabytes_of_it(self) -> None:
        """The article's `add(matmul(a, b), c)`, compiled: 4096 x 4096 bf16 are 33_554_432 B."""
        copied, cleared = seen("hidden-copy", recorded("01_matmul_add_4096_bf16_warm_compile"))
        assert copied.title.startswith(
            "inside aten::addmm 33.6 MB are copied on the device before the GEMM, 15.3 µs"
        )
        assert copied.evidence["bytes"] == [33_554_432]
        assert cleared.title.startswith("a memset (4 B, ")

    def test_a_copy_of_another_op_or_to_the_host_is_not(self) -> None:
        assert seen("hidden-copy", self.seeded(copy(10, 3, 1), by="aten::mm")) == []
        down = copy(10, 3, 1) | {"name": "Memcpy DtoH (Device -> Pageable)"}
        assert seen("hidden-copy", self.seeded(down)) == []


class TestSameOpOtherKernel:
    def test_both_names_shapes_and_rates(self) -> None:
        """38_654_705_664 FLOP each; the first of the two GEMMs with the larger tile takes 56_575 ns."""
        found = the_one("same-op-other-kernel", recorded("03_mlp_eager"))
        gate, down = found.evidence["kernels"]
        assert (gate["name"], down["name"]) == (TILE_A, TILE_B)
        assert (gate["shape"], down["shape"]) == ("[8192, 768] x [768, 3072]", "[8192, 3072] x [3072, 768]")
        assert gate["flop_per_s"] == round(38_654_705_664 / 56_575 * 1e9)
        assert down["flop_per_s"] == round(38_654_705_664 / down["ns"] * 1e9)
        assert found.title == (
            "aten::mm is not one kernel but 2: "
            "GEMM 256x128x64, 4 stages, TNT for [8192, 768] x [768, 3072] at 683 TFLOP/s and "
            "GEMM 192x128x64, 5 stages, TNT for [8192, 3072] x [3072, 768] at 745 TFLOP/s; "
            "the library picks by shape and dtype"
        )

    def test_another_dtype_counts_too(self) -> None:
        one = (TILE_A, "aten::mm", tensors(SQUARE, SQUARE), 5.0)
        other = (TILE_B, "aten::mm", tensors(SQUARE, SQUARE, dtype="c10::Half"), 5.0)
        found = the_one("same-op-other-kernel", read(*events(one, other)))
        assert [kernel["dtypes"] for kernel in found.evidence["kernels"]] == [["float"], ["c10::Half"]]

    def test_names_that_decode_alike_are_still_two(self) -> None:
        alike = TILE_A.replace("coopA", "coopB")
        found = the_one(
            "same-op-other-kernel",
            read(*events(ran(TILE_A, "aten::mm", [8, 4], [4, 16]), ran(alike, "aten::mm", [2, 4], [4, 16]))),
        )
        assert {kernel["name"] for kernel in found.evidence["kernels"]} == {TILE_A, alike}
        assert " and another GEMM 256x128x64, 4 stages, TNT for [2, 4] x [4, 16]" in found.title

    def test_of_three_the_two_dearest_are_named(self) -> None:
        small = TILE_A.replace("256x128", "64x64")
        found = the_one(
            "same-op-other-kernel",
            read(
                *events(
                    ran(small, "aten::mm", [2, 4], [4, 16], dur=1),
                    ran(TILE_A, "aten::mm", [8, 4], [4, 16], dur=6),
                    ran(TILE_B, "aten::mm", [8, 4], [4, 32], dur=4),
                )
            ),
        )
        assert found.title.startswith(
            "aten::mm is not one kernel but 3, among them GEMM 256x128x64, 4 stages"
        )
        assert " and GEMM 192x128x64, 5 stages" in found.title

    @pytest.mark.parametrize(
        "kernels",
        [
            pytest.param([ran(TILE_A, "aten::mm", SQUARE, SQUARE)] * 2, id="one kernel"),
            pytest.param(
                [ran(TILE_A, "aten::mm", SQUARE, SQUARE), ran(TILE_B, "aten::mm", SQUARE, SQUARE)],
                id="one shape",
            ),
            pytest.param(
                [ran(TILE_A, "aten::mm", [8, 4], [4, 16]), ran(TILE_B, "aten::bmm", [2, 8, 4], [2, 4, 16])],
                id="two ops",
            ),
            pytest.param([ran(TILE_A, "aten::mm"), ran(TILE_B, "aten::mm")], id="no shapes"),
            pytest.param([ran(GELU, "aten::x", [8, 4]), ran(MUL, "aten::x", [8, 8])], id="no product"),
        ],
    )
    def test_else_not(self, kernels: list[Any]) -> None:
        assert seen("same-op-other-kernel", read(*events(*kernels))) == []


class TestGemmLayout:
    def test_letters(self) -> None:
        assert the_one("gemm-layout", recorded("03_mlp_eager")).title == (
            "the layout is in the names of 3 GEMMs: TNT is x @ w.T as nn.Linear stores it"
        )
        assert the_one("gemm-layout", recorded("04_attention_eager")).title == (
            "the layout is in the names of 2 GEMMs: TNN and TNT are x @ w.T as nn.Linear stores it"
        )

    def test_a_name_without_them_says_nothing(self) -> None:
        assert seen("gemm-layout", read(*events(ran("toy_gemm", "aten::mm", SQUARE, SQUARE)))) == []


class TestFusedByCompiler:
    def test_the_ops_in_its_name(self) -> None:
        found = the_one("fused-by-compiler", recorded("03_mlp_compile"))
        (fused,) = found.evidence["kernels"]
        assert (fused["ops"], fused["count"]) == (["_unsafe_view", "gelu", "mul"], 1)
        assert found.title == (
            "the compiler merged ops into 1 kernel (18 % of the GPU time): view + gelu + mul in 37.7 µs"
        )

    def test_on_a_cpu(self) -> None:
        fused = [annotation("fwd", 0, 50), op("graph_0_cpp_fused__unsafe_view_gelu_mul_0", 1, 20)]
        assert the_one("fused-by-compiler", read(*fused, device=None)).title == (
            "the compiler merged ops into 1 kernel: view + gelu + mul in 20.0 µs"
        )

    def test_a_kernel_of_one_op_merged_nothing(self) -> None:
        assert (
            seen("fused-by-compiler", read(*events(ran("triton_poi_fused_mul_0", "triton_poi_fused_mul_0"))))
            == []
        )
        assert seen("fused-by-compiler", recorded("03_mlp_eager")) == []


class TestPrecisionFallback:
    SIMT = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4"
    TF32 = "cutlass_80_tensorop_s1688gemm_128x128_16x5_tn_align4"

    def test_an_fp32_model(self) -> None:
        """Three GEMMs of 38_654_705_664 FLOP each; the lesser of their two times is the median."""
        found = the_one("precision-fallback", recorded("03_mlp_fp32_eager"))
        assert found.evidence["ops"] == {"aten::mm": 3}
        assert found.evidence["flop"] == 3 * 38_654_705_664
        assert found.evidence["gpu_ns"] == 776_987 + 772_826 + 829_978
        assert found.title.startswith(
            "3 of 3 matrix products (aten::mm x3) run in fp32 on ordinary cores, 2.38 ms, 48.7 TFLOP/s: "
            "TF32 is off"
        )
        assert 'torch.set_float32_matmul_precision("high")' in found.advice

    def test_one_op_of_a_bf16_model(self) -> None:
        """Whatever the device: on a Volta too. 5 us of an fp32 product among three in bf16."""
        half = (TILE_A, "aten::mm", tensors(SQUARE, SQUARE, dtype="c10::BFloat16"), 5.0)
        slow = ran(self.SIMT, "aten::bmm", [2, 64, 64], [2, 64, 64])
        found = the_one("precision-fallback", read(*events(half, slow, half, half), device=None))
        assert found.title == (
            "1 of 4 matrix products (aten::bmm) run in fp32 on ordinary cores, 5.00 µs, 210 GFLOP/s: "
            "the others multiply in 16 bits"
        )
        assert found.cost_ns == 5_000  # 2 x 2 x 64^3 = 1_048_576 FLOP; without a ceiling all of it

    def test_beside_one_on_the_tensor_cores_it_is_the_shape(self) -> None:
        both = [ran(self.SIMT, "aten::mm", [3, 7], [7, 5]), ran(self.TF32, "aten::mm", SQUARE, SQUARE)]
        found = the_one("precision-fallback", read(*events(*both)))
        assert "these shapes or their alignment may not suit TF32" in found.title
        assert found.advice.startswith("Pad the sizes")

    def test_not_in_bf16_and_not_before_ampere(self) -> None:
        assert seen("precision-fallback", recorded("03_mlp_eager")) == []
        volta = {"id": 0, "name": "Tesla V100-SXM2-32GB", "computeMajor": 7}
        fp32 = events(ran(self.SIMT, "aten::mm", SQUARE, SQUARE))
        assert seen("precision-fallback", read(*fp32, device=volta)) == []
        assert len(seen("precision-fallback", read(*fp32))) == 1

    def test_not_on_a_cpu(self) -> None:
        mm = op("aten::mm", 1, 20, **tensors(SQUARE, SQUARE))
        assert seen("precision-fallback", read(annotation("fwd", 0, 50), mm, device=None)) == []
