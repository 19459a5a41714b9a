"""Words for people, word for word."""

# ruff: noqa: E501 - kernel names are as long as they are
from __future__ import annotations

import pytest

from rung.names import decode, decode_op, explain, short

GELU = (
    "void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&,"
    " at::native::GeluType)::{lambda()#1}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int)"
)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "GEMM 256x128x64, 4 stages, TNT"),
        ("nvjet_sm90_tst_64x8_64x16_1x2_h_bz_bias_TNT", "GEMM 64x8x64, 16 stages, with bias, TNT"),
        ("nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_TNT", "GEMM 64x8x64, 16 stages, split-K, TNT"),
        ("cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_32x1_tn_align8", "GEMM 32x32x32, 1 stage, tn"),
        (GELU, "pointwise gelu, 8 wide"),
        ("triton_poi_fused__unsafe_view_gelu_mul_0", "made by Inductor: view + gelu + mul"),
        (
            "triton_red_fused__to_copy_add_embedding_mean_mul_pow_rsqrt_0",
            "made by Inductor: to_copy + add + embedding + mean + mul + 2 more",
        ),
        ("triton_poi_fused_0", "pointwise, made by Inductor"),
        ("_geglu_tanh_forward_kernel", "pointwise geglu_tanh"),
        ("void gemvNSP_kernel<float, float, 1>(X)", "GEMM, matrix by vector"),
        ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(X)", "collective AllReduce, Sum"),
        ("Memcpy HtoD (Pageable -> Device)", "copy host (pageable) to device"),
        ("Memset (Device)", "memset"),
        ("void cub::DeviceScanKernel<X, int>(int)", "scan"),
        ("void fbgemm_gpu::permute_2D_lengths_kernel<int>(X)", "FBGEMM kernel"),
        ("void cudnn::ops::nchwToNhwcKernel<float, float>(X)", "pointwise copy nchw to nhwc"),
        ("_rms_norm_backward_kernel", "normalization rms_norm backward"),
        (
            "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, false, false>(X)",
            "softmax",
        ),
        (
            "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true, false>(X)",
            "softmax log_softmax",
        ),
        ("a_kernel", "a_kernel"),
        ("a" * 70, "a" * 57 + "..."),
    ],
    ids=lambda value: value[:40],
)
def test_short(name: str, words: str) -> None:
    assert short(decode(name)) == words


def test_short_of_a_stand_in_op() -> None:
    assert short(decode_op("aten::mm")) == "GEMM"
    assert short(decode_op("aten::gelu")) == "pointwise gelu"
    assert short(decode_op("aten::item")) == "item"
    assert explain(decode_op("aten::item"))[0] == "item, an ATen operator on the CPU"


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (
            "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_32x1_tn_align8",
            [
                "GEMM, CUTLASS, built for sm_80 tensor cores (WMMA)",
                "inputs bf16, accumulates in fp32, output bf16    instruction 16x16x16",
                "tile 32 x 32 x 32, 1 stage    A transposed, B not (tn): x @ w.T as nn.Linear stores it"
                "    aligned to 8 elements",
            ],
        ),
        (
            "nvjet_sm90_tst_64x8_64x16_1x2_h_bz_bias_TNT",
            [
                "GEMM, cuBLASLt's nvjet, built for sm_90",
                "tile 64 x 8 x 64, 16 stages    cluster 1x2    layout TNT: x @ w.T as nn.Linear stores it"
                "    bias added in the write-back",
                "not interpreted: tst, h, bz",
            ],
        ),
        (
            "volta_sgemm_128x64_nn",
            [
                "GEMM, cuBLAS, built for Volta, ordinary cores, no tensor cores",
                "inputs fp32, accumulates in fp32, output fp32",
                "tile 128 x 64    neither transposed (nn): x @ w",
            ],
        ),
        (
            # Not BLAS's letters: nothing is said of the product.
            "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1",
            [
                "GEMM, triton_kernels",
                "tile 16 x 128 x 256    layout NNT",
                "not interpreted: bf16xbf16xmxfp4",
            ],
        ),
        (
            "triton_poi_fused__unsafe_view_gelu_mul_0",
            ["pointwise, made by Inductor", "merges view + gelu + mul    id: 0    form: pointwise"],
        ),
        ("Memcpy DtoH (Device -> Pinned)", ["copy device to host (pinned), the device's copy engine"]),
        ("a_kernel", ["unknown: no family Rung knows has names of this form"]),
    ],
    ids=lambda value: str(value)[:40],
)
def test_explain(name: str, lines: list[str]) -> None:
    assert explain(decode(name)) == lines
