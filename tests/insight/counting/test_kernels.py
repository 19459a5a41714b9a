"""Which of an op's kernels does its work, and what kernels for lists, of compilers and of libraries move."""

from __future__ import annotations

from typing import Any

import pytest

from handmade import GELU, TILE_A, tensors
from rung.insight.work import Work, work_of
from rung.trace import Kernel, Trace
from tracelib import kernel, launch, memset, op, read

BF16 = "c10::BFloat16"
ATEN = "void at::native::(anonymous namespace)::"
SPLIT_K = "void cublasLt::splitKreduce_kernel<32, 16, int, float, float>(int)"
DGRAD = "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int)"
WGRAD = "void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false, 512>(int)"


def launched(name: str, args: dict[str, Any], *kernels: str, grids: tuple[int, ...] = ()) -> Trace:
    """An op that launches some kernels."""
    events = [op(name, 0, 100, **args)]
    for i, one in enumerate(kernels):
        grid = {"grid": [grids[i], 1, 1]} if grids else {}
        events += [launch(1 + i, 1, i + 1), kernel(one, 10 + 10 * i, 5, i + 1, **grid)]
    return read(*events)


def works(name: str, args: dict[str, Any], *kernels: str, grids: tuple[int, ...] = ()) -> list[Work]:
    return [work_of(found) for found in launched(name, args, *kernels, grids=grids).kernels]


PRODUCT = tensors([8, 4], [4, 2])


class TestSiblings:
    def test_the_gemm_does_the_product_and_what_adds_its_parts_is_unknown(self) -> None:
        assert works("aten::mm", PRODUCT, TILE_A, SPLIT_K) == [Work(128, 4 * (32 + 8 + 16)), Work()]

    def test_of_two_gemms_neither_is_known(self) -> None:
        assert works("aten::mm", PRODUCT, TILE_A, TILE_A) == [Work(), Work()]

    def test_a_memset_beside_it_is_no_sibling(self) -> None:
        events = [op("aten::mm", 0, 50, **PRODUCT), launch(1, 1, 1), launch(3, 1, 2)]
        trace = read(*events, memset(5, 1, 1, bytes=4), kernel(TILE_A, 10, 5, 2))
        assert [work_of(k) for k in trace.kernels] == [Work(nbytes=4), Work(128, 224)]

    def test_an_only_kernel_of_an_unknown_name_does_it(self) -> None:
        assert works("aten::mm", PRODUCT, "mystery") == [Work(128, 224)]

    def test_each_gradient_of_a_convolution_has_its_kernel(self) -> None:
        args = {
            "Input Dims": [[2, 4, 8, 8], [2, 3, 8, 8], [4, 3, 3, 3], *[[]] * 8],
            "Input type": ["float"] * 3 + ["Scalar"] * 8,
            "Concrete Inputs": ["", "", "", "", "", "", "", "False", "", "1", "[True, True, False]"],
        }
        one = 2 * 2 * 64 * 108
        found = works("aten::convolution_backward", args, "void nchwToNhwcKernel<float>(int)", DGRAD, WGRAD)
        assert found == [Work(), Work(one, 4 * (512 + 108 + 384)), Work(one, 4 * (512 + 384 + 108))]
        assert works("aten::convolution_backward", args, DGRAD, DGRAD) == [Work(), Work()]
        assert works("aten::convolution_backward", args, TILE_A) == [Work()]  # of which one?
        only = {**args, "Concrete Inputs": [*args["Concrete Inputs"][:10], "[False, True, False]"]}
        assert works("aten::convolution_backward", only, TILE_A) == [Work(one, 4 * (512 + 384 + 108))]

    def test_a_layout_in_the_name_of_a_convolution_does_not_hide_it(self) -> None:
        args = {
            "Input Dims": [[2, 3, 8, 8], [4, 3, 3, 3], *[[]] * 7],
            "Input type": ["float"] * 2 + ["Scalar"] * 7,
            "Concrete Inputs": ["", "", "[1, 1]", "[1, 1]", "[1, 1]", "1", "False", "False", "True"],
        }
        fprop = (
            "void cutlass__5x_cudnn::Kernel<cutlass_tensorop_bf16_s16816fprop_optimized_bf16_256x64_32x4"
            "_nhwc_align8>(int)"
        )
        found = works("aten::cudnn_convolution", args, "void nchwToNhwcKernel<float>(int)", fprop)
        assert found == [Work(), Work(2 * 2 * 64 * 108, 4 * (384 + 108 + 512))]

    def test_attentions_backward_is_in_the_middle_one_of_three(self) -> None:
        q = [2, 16, 4, 8]
        args = {
            "Input Dims": [*[q] * 5, [2, 4, 16], *[[]] * 6],
            "Input type": [*[BF16] * 5, "float", "", "", *["Scalar"] * 4],
            "Concrete Inputs": ["", "", "", "", "", "", "", "", "16", "16", "0.", "False"],
        }
        kernels = (
            "flash_bwd_dot_do_o_kernel",
            "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel",
            "flash_bwd_convert_dq_kernel",
        )
        found = works(
            "aten::_flash_attention_backward", args, *(f"void {name}<int>(int)" for name in kernels)
        )
        assert found == [Work(), Work(5 * 2 * 2 * 4 * 16 * 16 * 8, 8 * 2048), Work()]

    def test_a_norms_backward_by_the_names_of_its_kernels(self) -> None:
        args = tensors([4, 8], [4, 8], [1], [4], [4], [8])
        kernels = (
            f"{ATEN}layer_norm_grad_input_kernel_vectorized<float, float>(int)",
            f"{ATEN}GammaBetaBackwardCUDAKernel<float, float>(int)",
        )
        found = works("aten::native_layer_norm_backward", args, *kernels)
        assert found == [Work(nbytes=4 * (3 * 32 + 8)), Work(nbytes=4 * 64)]

    def test_a_graph_has_no_shapes(self) -> None:
        graph = [op("aten::mm", 0, 9, **PRODUCT), launch(1, 1, 1) | {"name": "cudaGraphLaunch"}]
        trace = read(*graph, kernel(TILE_A, 10, 5, 1))
        assert work_of(trace.kernels[0]) == Work()


APPLY = f"{ATEN}multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
ADAMW = (
    f"{APPLY}FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::"
    "FusedAdamMathFunctor<c10::BFloat16, 4, (at::native::ADAM_MODE)1, false>, float const*>(int)"
)
ADD = (
    f"{APPLY}TensorListMetadata<2>, at::native::(anonymous namespace)::"
    "BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus<float>, float>(int)"
)
NORM = (
    f"{APPLY}TensorListMetadata<1>, at::native::(anonymous namespace)::"
    "LpNormFunctor<float, (at::native::NormType)1, float, 1, 1, 0>, float*>(int)"
)


class TestLists:
    @staticmethod
    def lists(*shapes: list[int], times: int = 1) -> dict[str, Any]:
        return {"Input Dims": [list(shapes)] * times, "Input type": ["TensorList"] * times}

    def test_adamw_reads_four_lists_and_writes_three(self) -> None:
        """Weights, gradients and both moments in bf16; gradients stay."""
        found = works("aten::_fused_adamw_", self.lists([100, 8], [50], times=4), ADAMW)
        assert found == [Work(nbytes=7 * 850 * 2)]

    def test_a_sum_reads_two_and_writes_one_and_a_norm_writes_none(self) -> None:
        assert works("aten::_foreach_add_", self.lists([100], [28], times=2), ADD) == [Work(nbytes=3 * 512)]
        assert works("aten::_foreach_norm", self.lists([100], [28]), NORM) == [Work(nbytes=512)]

    def test_each_launch_takes_its_share_of_chunks(self) -> None:
        """Chunks of 65536, 34464 and 10: the first launch has two blocks, the second one."""
        args = self.lists([100000], [10], times=2)
        found = works("aten::_foreach_add_", args, ADD, ADD, grids=(2, 1))
        assert found == [Work(nbytes=3 * 4 * 100000), Work(nbytes=3 * 4 * 10)]
        assert works("aten::_foreach_add_", args, ADD, ADD, grids=(2, 2)) == [Work(), Work()]
        assert works("aten::_foreach_add_", args, ADD, ADD) == [Work(), Work()]

    def test_without_the_list_nothing_is_known(self) -> None:
        assert works("aten::_foreach_add_", {"Input Dims": [[]], "Input type": ["TensorList"]}, ADD) == [
            Work()
        ]

    @pytest.mark.parametrize(
        ("element", "nbytes"),
        [("at::native::(anonymous namespace)::OpaqueType<2u>", 2), ("float", 4), ("odd", None)],
    )
    def test_cat_moves_all_of_them_twice(self, element: str, nbytes: int | None) -> None:
        name = f"{ATEN}CatArrayBatchedCopy<{element}, unsigned int, 3, 64, 64>(int)"
        found = works("aten::cat", self.lists([4, 8], [2, 8]), name)
        assert found == [Work(nbytes=2 * 48 * nbytes if nbytes else None)]


def compiled(name: str, *shapes: list[int], sizes: str, dtype: str = BF16) -> Work:
    """A kernel of Inductor's with the arguments that it records."""
    numbers = sizes.split()
    args = {
        "Input Dims": [*shapes, *[[]] * len(numbers)],
        "Input type": [dtype] * len(shapes) + ["Scalar"] * len(numbers),
        "Concrete Inputs": [""] * len(shapes) + numbers,
    }
    (found,) = works(name, args, name)
    return found


class TestInductor:
    def test_a_product_seen_as_a_matrix_is_an_input_so_the_first_is_written_in_place(self) -> None:
        """gelu(g) * u over [64, 128, 3072]: two tensors of 50.3 MB, three passes."""
        found = compiled(
            "triton_poi_fused__unsafe_view_gelu_mul_0", [64, 128, 3072], [8192, 3072], sizes="25165824"
        )
        assert found == Work(nbytes=3 * 50_331_648)

    def test_the_other_way_round_the_result_has_its_own_place(self) -> None:
        found = compiled("triton_poi_fused__unsafe_view_gelu_mul_0", [8192, 8], [64, 128, 8], sizes="65536")
        assert found == Work(nbytes=2 * 131072)

    def test_a_result_needs_a_place(self) -> None:
        """A bias is too small for it, so it is where the first input was."""
        assert compiled("triton_poi_fused_add_relu_0", [4, 8], [8], sizes="32") == Work(
            nbytes=2 * (32 + 32 + 8)
        )

    def test_a_small_first_input_is_not_written_and_no_doubt_is_left(self) -> None:
        found = compiled("triton_poi_fused_add_mul_0", [8], [4, 8], [4, 8], sizes="32")
        assert found == Work(nbytes=2 * (8 + 32 + 32))

    def test_where_the_first_may_or_may_not_be_in_place_nothing_is_counted(self) -> None:
        assert compiled("triton_poi_fused_mul_0", [4, 8], [4, 8], sizes="32") == Work()
        assert compiled("triton_per_fused_add_mean_0", [4, 8], [4, 8], [4, 8], sizes="4 8") == Work()

    def test_an_op_of_one_operand_reads_one_and_writes_another(self) -> None:
        found = compiled("triton_per_fused__fused_rms_norm_0", [4, 8], [8], [4, 8], sizes="4 8")
        assert found == Work(nbytes=2 * (32 + 8 + 32))
        assert compiled("triton_poi_fused_gelu_0", [4, 8], sizes="32") == Work(nbytes=2 * 2 * 32)

    def test_a_reduction_may_leave_a_row_each(self) -> None:
        assert compiled("triton_red_fused_sum_0", [4, 8], [4], sizes="4 8") == Work(nbytes=2 * 36)

    @pytest.mark.parametrize("op_name", ["embedding", "slice", "cat", "index"])
    def test_ops_that_may_leave_a_part_of_a_tensor_alone(self, op_name: str) -> None:
        assert compiled(f"triton_poi_fused_add_{op_name}_0", [8], [4, 8], sizes="32") == Work()

    def test_what_is_larger_than_the_kernels_range_is_not_all_read(self) -> None:
        assert compiled("triton_poi_fused_add_0", [8, 8], [4, 8], sizes="32") == Work()
        assert compiled("triton_poi_fused_add_0", [4, 8], [8], sizes="") == Work()

    def test_a_template_is_a_product(self) -> None:
        found = compiled("triton_mm_3", [8, 4], [4, 2], [8, 2], sizes="")
        assert found == Work(128, 2 * (32 + 8 + 16))
        assert compiled("triton_tem_fused_addmm_3", [2], [8, 4], [4, 2], [8, 2], sizes="").flop == 128
        assert compiled("triton_mm_3", [8, 4], [5, 2], [8, 2], sizes="") == Work()


class TestLibraries:
    def test_rungs_gate_up_is_two_products_and_its_down_one(self) -> None:
        """x [2, 4, 8], hidden 16: 8 rows; down reads the hidden tensor."""
        args = tensors([2, 4, 8], [16, 8], [16, 8], [8, 16], dtype=BF16)
        gate_up, down = works(
            "rung::glu_mlp", args, "rung_gate_up_gelu_tanh_64x64x32_s3", "rung_down_64x64x32_s3"
        )
        assert gate_up == Work(2 * 2 * 8 * 16 * 8, 2 * (64 + 128 + 128 + 128))
        assert down == Work(2 * 8 * 8 * 16, 2 * (128 + 128 + 64))

    def test_for_backward_gate_and_up_are_kept(self) -> None:
        args = tensors([8, 8], [16, 8], [16, 8], dtype=BF16)
        (found,) = works("rung::gate_up", args, "rung_gate_up_tma_silu_128x128x64_s4_saved")
        assert found.nbytes == 2 * (64 + 128 + 128 + 3 * 128)

    def test_backward_through_down_is_one_product(self) -> None:
        """grad [8, 4] against down [4, 16]; gate and up [8, 16] read, [8, 32] written."""
        args = tensors([8, 4], [4, 16], [8, 16], [8, 16], dtype=BF16)
        (found,) = works("rung::down_backward", args, "rung_down_backward_hopper_gelu_tanh_128x128x64_s5")
        assert found == Work(2 * 8 * 4 * 16, 2 * (32 + 64 + 128 + 128 + 256))

    def test_backward_through_gate_and_up_is_one_product_twice_as_deep(self) -> None:
        """[8, 32] against two weights [16, 4]; [8, 4] written."""
        args = tensors([8, 32], [16, 4], [16, 4], dtype=BF16)
        name = "rung_gate_up_backward_hopper_192x128x64_s5"
        (found,) = works("rung::gate_up_backward", args, name)
        assert found == Work(2 * 8 * 32 * 4, 2 * (256 + 64 + 64 + 32))

    @pytest.mark.parametrize(
        ("op_name", "name", "given", "passes"),
        [
            ("rung::glu", "rung_glu_gelu_tanh", 2, 3),
            ("rung::glu_backward", "rung_glu_backward_silu", 3, 5),
            ("LigerGELUMulFunction", "_geglu_tanh_forward_kernel", 2, 3),
            ("LigerSiLUMulFunctionBackward", "_swiglu_backward_kernel", 1, 5),
            ("_C::fused_add_rms_norm", "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(int)", 2, 4),
        ],
    )
    def test_what_passes_over_its_tensors(self, op_name: str, name: str, given: int, passes: int) -> None:
        (found,) = works(op_name, tensors(*[[4, 8]] * given, dtype=BF16), name)
        assert found == Work(nbytes=passes * 64)


def test_on_a_cpu_the_op_itself_is_counted() -> None:
    trace = read(op("aten::gelu", 0, 10, **tensors([8, 8])), device=None)
    (found,) = trace.kernels
    assert isinstance(found, Kernel)
    assert (found.category, work_of(found)) == ("op", Work(nbytes=512))


def test_where_the_gpu_work_is_lost_nothing_is_counted() -> None:
    trace = read(op("aten::gelu", 0, 10, **tensors([8, 8])))
    assert [work_of(k) for k in trace.kernels] == [Work()]


def test_a_kernel_that_no_op_launched() -> None:
    assert work_of(read(launch(0, 1, 1), kernel(GELU, 5, 5, 1)).kernels[0]) == Work()
