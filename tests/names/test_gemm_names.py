"""GEMM and convolution names, each taken apart by hand."""

# ruff: noqa: E501 - kernel names are as long as they are
from __future__ import annotations

from typing import Any

import pytest

from rung.names import decode

BF16 = {"dtype_a": "bf16", "dtype_b": "bf16", "dtype_out": "bf16", "dtype": "bf16", "accumulate": "fp32"}
FP32 = {"dtype_a": "fp32", "dtype_b": "fp32", "dtype_out": "fp32", "dtype": "fp32", "accumulate": "fp32"}

EXACT: list[tuple[str, str, str, dict[str, Any], tuple[str, ...]]] = [
    (
        "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT",
        "nvjet",
        "gemm",
        {"arch": "sm_90", "tile": [256, 128, 64], "stages": 4, "cluster": [1, 2], "layout": "TNT"},
        ("tst", "h", "bz", "coopA"),
    ),
    (
        "nvjet_sm90_tst_64x8_64x16_1x2_h_bz_bias_TNT",
        "nvjet",
        "gemm",
        {
            "arch": "sm_90",
            "tile": [64, 8, 64],
            "stages": 16,
            "cluster": [1, 2],
            "epilogue": ["bias"],
            "layout": "TNT",
        },
        ("tst", "h", "bz"),
    ),
    (
        # `badd` is seen where beta is 1; nobody documents it, so no bias is claimed.
        "nvjet_sm90_tst_256x128_64x4_1x2_h_badd_coopA_NNT",
        "nvjet",
        "gemm",
        {"arch": "sm_90", "tile": [256, 128, 64], "stages": 4, "cluster": [1, 2], "layout": "NNT"},
        ("tst", "h", "badd", "coopA"),
    ),
    (
        "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_TNT",
        "nvjet",
        "gemm",
        {
            "arch": "sm_90",
            "tile": [64, 8, 64],
            "stages": 16,
            "cluster": [4, 1],
            "split_k": True,
            "layout": "TNT",
        },
        ("tst", "v", "bz"),
    ),
    (
        "nvjet_tst_144x128_64x6_2x1_2cta_v_bz_TNN",
        "nvjet",
        "gemm",
        {"tile": [144, 128, 64], "stages": 6, "cluster": [2, 1], "layout": "TNN"},
        ("tst", "2cta", "v", "bz"),
    ),
    (
        "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
        "cublas",
        "gemm",
        BF16
        | {
            "arch": "ampere",
            "unit": "tensorop",
            "instruction": [16, 8, 16],
            "tile": [128, 128, 32],
            "stages": 5,
            "layout": "tn",
        },
        ("ldg8", "f2f"),
    ),
    (
        "volta_sgemm_128x64_nn",
        "cublas",
        "gemm",
        FP32 | {"arch": "volta", "unit": "simt", "tile": [128, 64], "layout": "nn"},
        (),
    ),
    (
        "turing_fp16_s1688gemm_fp16_128x64_sliced1x2_ldg8_relu_f2f_tn",
        "cublas",
        "gemm",
        {
            "arch": "turing",
            "unit": "tensorop",
            "dtype_a": "fp16",
            "dtype_b": "fp16",
            "dtype_out": "fp16",
            "dtype": "fp16",
            "accumulate": "fp32",
            "instruction": [16, 8, 8],
            "tile": [128, 64],
            "layout": "tn",
        },
        ("sliced1x2", "ldg8", "relu", "f2f"),
    ),
    (
        # No output dtype in front of the core word: the output has the accumulator's.
        "ampere_s16816gemm_fp16_128x128_ldg8_stages_64x3_nn",
        "cublas",
        "gemm",
        {
            "arch": "ampere",
            "unit": "tensorop",
            "dtype_a": "fp16",
            "dtype_b": "fp16",
            "dtype_out": "fp32",
            "accumulate": "fp32",
            "instruction": [16, 8, 16],
            "tile": [128, 128, 64],
            "stages": 3,
            "layout": "nn",
        },
        ("ldg8",),
    ),
    (
        # `gcgemm` is a word of its own: no letter of BLAS may be read into it.
        "ampere_gcgemm_64x64_nt",
        "cublas",
        "gemm",
        {"arch": "ampere", "tile": [64, 64], "layout": "nt"},
        ("gcgemm",),
    ),
    (
        "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_32x1_tn_align8",
        "cutlass",
        "gemm",
        BF16
        | {
            "arch": "sm_80",
            "unit": "tensorop",
            "wmma": True,
            "instruction": [16, 16, 16],
            "tile": [32, 32, 32],
            "stages": 1,
            "layout": "tn",
            "align": 8,
        },
        (),
    ),
    (
        "void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_relu_f16_64x128_64x3_nn_align8>"
        "(cutlass_80_tensorop_f16_s16816gemm_relu_f16_64x128_64x3_nn_align8::Params)",
        "cutlass",
        "gemm",
        {
            "arch": "sm_80",
            "unit": "tensorop",
            "dtype_a": "fp16",
            "dtype_b": "fp16",
            "dtype_out": "fp16",
            "dtype": "fp16",
            "accumulate": "fp32",
            "instruction": [16, 8, 16],
            "tile": [64, 128, 64],
            "stages": 3,
            "layout": "nn",
            "align": 8,
        },
        ("relu",),
    ),
    (
        "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(X)",
        "cutlass",
        "gemm",
        FP32
        | {
            "arch": "sm_80",
            "unit": "simt",
            "tile": [128, 32, 8],
            "stages": 5,
            "layout": "nn",
            "align": 1,
        },
        (),
    ),
    (
        "cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_f32_bf16_128x128x64_2x1x1_0_tnn_align8"
        "_warpspecialized_cooperative_epi_tma",
        "cutlass",
        "gemm",
        BF16
        | {
            "arch": "sm_90",
            "unit": "tensorop",
            "instruction": [64, 128, 16],
            "tile": [128, 128, 64],
            "cluster": [2, 1, 1],
            "layout": "tnn",
            "align": 8,
        },
        ("warpspecialized", "cooperative", "epi", "tma"),
    ),
    (
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x64x64_warpgroupsize1x1x1"
        "_execute_segment_k_off_kernel__5x_cublas",
        "xmma",
        "gemm",
        {
            "arch": "sm_90",
            "dtype_a": "bf16",
            "dtype_b": "bf16",
            "tile": [128, 64, 64],
            "layout": "tn",
            "library": "cublas",
        },
        ("bf16f32", "f32", "n", "warpgroupsize1x1x1", "execute", "segment", "k", "off", "kernel", "5x"),
    ),
    (
        "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4"
        "_execute_kernel__5x_cublas",
        "xmma",
        "gemm",
        {
            "arch": "sm_80",
            "dtype": "fp32",
            "unit": "simt",
            "tile": [128, 128, 8],
            "stages": 3,
            "layout": "tn",
            "library": "cublas",
        },
        ("n", "warpsize2x2x1", "aligna4", "alignc4", "execute", "kernel", "5x"),
    ),
    (
        "sm80_xmma_wgrad_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16_stage4"
        "_warpsize2x2x1_g1_tensor16x8x8_execute_split_k_kernel_cudnn",
        "xmma",
        "convolution",
        {
            "arch": "sm_80",
            "direction": "backward_weight",
            "unit": "tensorop",
            "instruction": [16, 8, 8],
            "tile": [128, 128, 16],
            "stages": 4,
            "split_k": True,
            "library": "cudnn",
        },
        (
            "implicit",
            "gemm",
            "tf32f32",
            "tf32f32",
            "f32",
            "nhwckrsc",
            "nhwc",
            "warpsize2x2x1",
            "g1",
            "execute",
            "kernel",
        ),
    ),
    (
        "void cutlass__5x_cudnn::Kernel<cutlass_tensorop_bf16_s16816fprop_optimized_bf16_256x64_32x4_nhwc_align8>(X)",
        "cutlass",
        "convolution",
        BF16
        | {
            "direction": "forward",
            "unit": "tensorop",
            "instruction": [16, 8, 16],
            "tile": [256, 64, 32],
            "stages": 4,
            "tensor_layout": "nhwc",
            "align": 8,
        },
        ("optimized",),
    ),
    (
        "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT16x32x512_MI16x16x1_ISA942",
        "tensile",
        "gemm",
        BF16 | {"arch": "gfx942", "tile": [16, 32, 512], "layout": "TN"},
        ("BH", "Bias", "HA", "S", "SAV", "UserArgs", "MI16x16x1"),
    ),
    (
        "Cijk_Ailk_Bjlk_SB_MT64x16x16_SN_ISA90a",
        "tensile",
        "gemm",
        {"arch": "gfx90a", "dtype": "fp32", "tile": [64, 16, 16], "layout": "NT"},
        ("SN",),
    ),
    (
        "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x4_swiglu",
        "triton-kernels",
        "gemm",
        {"tile": [16, 128, 256], "split_k": 4, "layout": "NNT"},
        ("bf16xbf16xmxfp4", "swiglu"),
    ),
    (
        "void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float, false>(X, float const*)",
        "cublas",
        "reduction",
        {"split_k": True},
        ("32", "16", "int", "float", "__nv_bfloat16", "float", "false"),
    ),
    (
        "void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4, false>(X)",
        "cublas",
        "gemm",
        {"gemv": True, "layout": "t", "dtype": "fp32"},
        ("int", "int", "128", "16", "4", "4", "false"),
    ),
    (
        "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, __half, __half, true, 7>(X)",
        "cublas",
        "gemm",
        {"gemv": True, "dtype": "fp16"},
        ("int", "int", "true", "7"),
    ),
    (
        "void gemvNSP_kernel<float, float, 1, 16>(X)",
        "cublas",
        "gemm",
        {"gemv": True, "dtype": "fp32"},
        ("1", "16"),
    ),
    (
        "void gemmSN_TN_kernel<float, 128, 16>(X)",
        "cublas",
        "gemm",
        {"layout": "tn", "dtype": "fp32"},
        ("128", "16"),
    ),
    (
        "void epilogue::impl::globalKernel<float, float, float, true, false>(int, cublasLtEpilogue_t)",
        "cublas",
        "pointwise",
        {"epilogue_only": True, "dtype": "fp32"},
        ("true", "false"),
    ),
    (
        "igemm_wrw_gtcx2_nhwc_bf16_bx0_ex1_bt128x64x32_wt32x32x8_gkgs",
        "miopen",
        "convolution",
        {"direction": "backward_weight", "tensor_layout": "nhwc", "dtype": "bf16", "tile": [128, 64, 32]},
        ("gtcx2", "bx0", "ex1", "wt32x32x8", "gkgs"),
    ),
    (
        "cudnn_infer_volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1",
        "cudnn",
        "convolution",
        {"arch": "volta", "dtype": "fp32", "algorithm": "winograd", "tile": [128, 128], "layout": "nt"},
        ("ldg1", "ldg4", "relu", "tile148t", "v1"),
    ),
]


@pytest.mark.parametrize(("name", "family", "kind", "fields", "unknown"), EXACT, ids=lambda v: str(v)[:40])
def test_every_word_is_a_field_or_unknown(
    name: str, family: str, kind: str, fields: dict[str, Any], unknown: tuple[str, ...]
) -> None:
    decoded = decode(name, "kernel")
    assert (decoded.family, decoded.kind) == (family, kind)
    assert decoded.fields == fields
    assert decoded.unknown == unknown


@pytest.mark.parametrize(
    ("name", "family", "kind", "direction"),
    [
        ("void implicit_convolve_sgemm<float, float, 128, 5, 5>(int)", "cudnn", "convolution", None),
        ("void cudnn::cnn::wgrad_alg0_engine<float, 128, 5>(int)", "cudnn", "convolution", "backward_weight"),
        ("void cudnn::detail::dgrad_engine<float, 512, 6>(int)", "cudnn", "convolution", "backward_data"),
        (
            "void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>(X)",
            "cudnn",
            "convolution",
            None,
        ),
        (
            "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>(X)",
            "cudnn",
            "normalization",
            "forward",
        ),
        ("cask_cudnn::computeOffsetsKernel(cask_cudnn::ComputeOffsetsParams)", "cudnn", "other", None),
        (
            "void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm_xdl_cshuffle_v3<int> >(P)",
            "ck",
            "gemm",
            None,
        ),
        ("_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_3XXXEEEEEvT_", "ck_tile", "normalization", "forward"),
        (
            "_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS_18Conv2dWgradXXXXXXXEEEEvT_",
            "cutlass",
            "convolution",
            "backward_weight",
        ),
        (
            "void cutlass_cudnn_train::Kernel<cutlass_cudnn_train::reduction::kernel::ReduceSplitK<int> >(X)",
            "cutlass",
            "reduction",
            None,
        ),
        ("miopenSp3AsmConv_v30_3_1_gfx9_fp16", "miopen", "convolution", None),
    ],
)
def test_library_kernels(name: str, family: str, kind: str, direction: str | None) -> None:
    decoded = decode(name, "kernel")
    assert (decoded.family, decoded.kind, decoded.fields.get("direction")) == (family, kind, direction)
