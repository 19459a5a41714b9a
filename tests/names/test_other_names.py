"""Names of everything that is no GEMM, each taken apart by hand."""

# ruff: noqa: E501 - kernel names are as long as they are
from __future__ import annotations

from typing import Any

import pytest

from rung.names import decode

LAMBDA = "::{lambda()#1}::operator()() const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}"
ITERATOR = "(at::TensorIteratorBase&)"
ANON = "at::native::(anonymous namespace)"


def vectorized(functor: str, tensors: int, width: int = 8) -> str:
    return (
        f"void at::native::vectorized_elementwise_kernel<{width}, {functor}, std::array<char*, {tensors}ul> >"
        f"(int, {functor}, std::array<char*, {tensors}ul>)"
    )


ATEN: list[tuple[str, str, dict[str, Any]]] = [
    (
        vectorized(
            f"at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType){LAMBDA}", 2
        ),
        "pointwise",
        {"functor": "gelu", "dtype": "bf16", "vector_width": 8, "tensors": 2},
    ),
    (
        vectorized(
            "at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16,"
            " at::native::binary_internal::MulFunctor<float> >",
            3,
        ),
        "pointwise",
        {"functor": "mul", "dtype": "bf16", "vector_width": 8, "tensors": 3},
    ),
    (
        # The form of 2021: no BinaryFunctor, and ATen's own array.
        "void at::native::vectorized_elementwise_kernel<4, at::native::BUnaryFunctor<at::native::AddFunctor<long> >,"
        " at::detail::Array<char*, 2> >(int, X)",
        "pointwise",
        {"functor": "add", "dtype": "int64", "vector_width": 4, "tensors": 2},
    ),
    (
        vectorized("at::native::CUDAFunctorOnSelf_add<float>", 2, 4),
        "pointwise",
        {"functor": "add", "dtype": "fp32", "vector_width": 4, "tensors": 2},
    ),
    (
        vectorized("at::native::FillFunctor<int>", 1, 4),
        "pointwise",
        {"functor": "fill", "dtype": "int32", "vector_width": 4, "tensors": 1},
    ),
    (
        vectorized(f"{ANON}::silu_kernel{ITERATOR}{LAMBDA}", 2),
        "pointwise",
        {"functor": "silu", "dtype": "bf16", "vector_width": 8, "tensors": 2},
    ),
    (
        # bf16 is what this copy makes of fp32.
        vectorized(f"at::native::bfloat16_copy_kernel_cuda{ITERATOR}::{{lambda(float)#1}}", 2, 4),
        "pointwise",
        {"functor": "copy", "dtype_a": "fp32", "dtype_out": "bf16", "vector_width": 4, "tensors": 2},
    ),
    (
        "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::"
        f"direct_copy_kernel_cuda{ITERATOR}{LAMBDA}>(at::TensorIteratorBase&, X const&)::{{lambda(int)#1}}>(int, X)",
        "pointwise",
        {"functor": "copy", "dtype_out": "bf16", "threads": 128, "elements_per_thread": 4},
    ),
    (
        vectorized(
            "at::native::AUnaryFunctor<long, long, bool, at::native::(anonymous namespace)::CompareEqFunctor<long> >",
            2,
            4,
        ),
        "pointwise",
        {"functor": "eq", "vector_width": 4, "tensors": 2},
    ),
    (
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::BFloat16, at::native::MeanOps<c10::BFloat16,"
        " float, float, c10::BFloat16>, unsigned int, c10::BFloat16, 4, 4> >(X)",
        "reduction",
        {
            "functor": "mean",
            "dtype_a": "bf16",
            "dtype_out": "bf16",
            "dtype": "bf16",
            "threads": 512,
            "outputs_per_thread": 1,
        },
    ),
    (
        "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<float, at::native::func_wrapper_t<float,"
        " at::native::sum_functor<float, float, float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>,"
        " unsigned int, float, 4> >(X)",
        "reduction",
        {
            "functor": "sum",
            "dtype_a": "fp32",
            "dtype_out": "fp32",
            "dtype": "fp32",
            "threads": 128,
            "outputs_per_thread": 4,
        },
    ),
    (
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<float>,"
        " unsigned int, long, 4, 4> >(X)",
        "reduction",
        {
            "functor": "argmax",
            "dtype_a": "fp32",
            "dtype_out": "int64",
            "threads": 512,
            "outputs_per_thread": 1,
        },
    ),
    (
        f"void {ANON}::multi_tensor_apply_kernel<{ANON}::TensorListMetadata<1>, {ANON}::BinaryOpScalarFunctor<float,"
        " 1, 1, 0>, std::multiplies<float>, float>(X)",
        "pointwise",
        {"functor": "mul", "dtype": "fp32", "multi_tensor": True},
    ),
    (
        f"void {ANON}::multi_tensor_apply_kernel<{ANON}::FusedOptimizerTensorListMetadata<4>,"
        f" {ANON}::FusedAdamMathFunctor<c10::BFloat16, 4, (at::native::ADAM_MODE)1, false>, float const*>(X)",
        "pointwise",
        {"functor": "fused_adam", "dtype": "bf16", "multi_tensor": True},
    ),
    (
        f"void {ANON}::CatArrayBatchedCopy<{ANON}::OpaqueType<2u>, unsigned int, 4, 64, 64>(X)",
        "pointwise",
        {"functor": "cat"},
    ),
    (
        f"void {ANON}::vectorized_layer_norm_kernel<c10::BFloat16, float, true>(int, float)",
        "normalization",
        {"functor": "rms_norm", "dtype": "bf16", "accumulate": "fp32", "direction": "forward"},
    ),
    (
        f"void {ANON}::vectorized_layer_norm_kernel<float, float>(int, float)",
        "normalization",
        {"functor": "layer_norm", "dtype": "fp32", "accumulate": "fp32", "direction": "forward"},
    ),
    (
        "void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, float, float, 10, true, false>(X)",
        "softmax",
        {
            "functor": "log_softmax",
            "dtype_a": "bf16",
            "dtype_out": "fp32",
            "accumulate": "fp32",
            "direction": "forward",
        },
    ),
    (
        "void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<at::native::"
        "index_put_kernel_impl<at::native::OpaqueType<4> >(X)::{lambda(char*)#1}>(X)::{lambda(int)#1}>(X)",
        "other",
        {"functor": "index_put"},
    ),
    (
        "void at::native::_scatter_gather_elementwise_kernel<128, 4, at::native::_cuda_scatter_gather_internal_kernel"
        "<true, float>::operator()<at::native::ReduceAdd>(X)::{lambda(int)#1}>(int, X)",
        "other",
        {"functor": "scatter"},
    ),
    (
        "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_",
        "pointwise",
        {"functor": "add"},
    ),
]


@pytest.mark.parametrize(("name", "kind", "fields"), ATEN, ids=[str(fields) for _, _, fields in ATEN])
def test_aten(name: str, kind: str, fields: dict[str, Any]) -> None:
    decoded = decode(name, "kernel")
    assert (decoded.family, decoded.kind, decoded.fields) == ("aten", kind, fields)


INDUCTOR: list[tuple[str, str, list[str], int | None, tuple[str, ...]]] = [
    ("triton_poi_fused__unsafe_view_gelu_mul_0", "pointwise", ["_unsafe_view", "gelu", "mul"], 0, ()),
    ("triton_poi_fused_0", "pointwise", [], 0, ()),
    ("triton_poi_fused__to_copy_1", "pointwise", ["_to_copy"], 1, ()),
    (
        "triton_red_fused__to_copy_add_embedding_mean_mul_pow_rsqrt_0",
        "reduction",
        ["_to_copy", "add", "embedding", "mean", "mul", "pow", "rsqrt"],
        0,
        (),
    ),
    (
        "triton_per_fused__fused_rms_norm__unsafe_view_add_1",
        "normalization",
        ["_fused_rms_norm", "_unsafe_view", "add"],
        1,
        (),
    ),
    ("triton_per_fused__softmax_4", "softmax", ["_softmax"], 4, ()),
    ("triton_per_fused_native_layer_norm_native_layer_norm_backward_7", "normalization",
     ["native_layer_norm", "native_layer_norm_backward"], 7, ()),
    ("triton_poi_fused__scaled_mm_abs_amax_12", "pointwise", ["_scaled_mm", "abs", "amax"], 12, ()),
    ("triton_poi_fused_max_pool2d_with_indices_relu_3", "pointwise", ["max_pool2d_with_indices", "relu"], 3, ()),
    ("triton_poi_fused_add_copy__3", "pointwise", ["add", "copy_"], 3, ()),
    # Ops that no table has are left as they are, between those that it has.
    ("triton_poi_fused_my_op_gelu_other_5", "pointwise", ["gelu"], 5, ("my_op", "other")),
    ("triton_tem_fused_addmm_relu_t_4", "gemm", ["addmm", "relu", "t"], 4, ()),
    ("triton_mm_12", "gemm", ["mm"], 12, ()),
    ("graph_0_cpp_fused__unsafe_view_gelu_mul_0", "pointwise", ["_unsafe_view", "gelu", "mul"], 0, ()),
    ("cpp_fused_mean_mul_pow_1", "reduction", ["mean", "mul", "pow"], 1, ()),
    # A loop with a product's name may be the product or the copy before it.
    ("cpp_fused_bmm_view_2", "other", ["bmm", "view"], 2, ()),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "kind", "ops", "number", "unknown"), INDUCTOR, ids=[row[0] for row in INDUCTOR]
)
def test_inductor(name: str, kind: str, ops: list[str], number: int | None, unknown: tuple[str, ...]) -> None:
    decoded = decode(name, "kernel")
    assert (decoded.family, decoded.kind) == ("inductor", kind)
    assert (decoded.fields["ops"], decoded.fields["id"], decoded.unknown) == (ops, number, unknown)


def test_inductor_without_unique_names_says_only_its_signature() -> None:
    decoded = decode("triton__0d1d2d3de", "kernel")
    assert (decoded.family, decoded.kind, decoded.unknown) == ("inductor", "other", ("0d1d2d3de",))


NCCL: list[tuple[str, dict[str, str], tuple[str, ...]]] = [
    (
        "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
        {"collective": "AllReduce", "algorithm": "RING", "protocol": "LL", "op": "Sum", "dtype": "fp32"},
        (),
    ),
    (
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        {"collective": "AllReduce", "algorithm": "RING", "protocol": "LL", "op": "Sum", "dtype": "bf16"},
        (),
    ),
    (
        "nccldevkernel_reducescatter_sum_f16_tree_ll128",
        {
            "collective": "ReduceScatter",
            "algorithm": "TREE",
            "protocol": "LL128",
            "op": "Sum",
            "dtype": "fp16",
        },
        (),
    ),
    (
        "ncclAllReduceRingLLKernel_sum_f32(ncclColl)",
        {"collective": "AllReduce", "algorithm": "RING", "protocol": "LL", "op": "Sum", "dtype": "fp32"},
        (),
    ),
    (
        # Nothing is summed in a broadcast, whatever the template is called.
        "ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
        {"collective": "Broadcast", "algorithm": "RING", "protocol": "LL"},
        ("Sum", "int8_t"),
    ),
    (
        "ncclKernel_AllReduce_NVLS_TREE_SIMPLE_Sum_half(ncclWorkElem)",
        {
            "collective": "AllReduce",
            "algorithm": "NVLS_TREE",
            "protocol": "SIMPLE",
            "op": "Sum",
            "dtype": "fp16",
        },
        (),
    ),
    ("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", {"collective": "SendRecv"}, ()),
    ("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", {}, ("Generic_4",)),
]


@pytest.mark.parametrize(("name", "fields", "unknown"), NCCL, ids=[row[0][:40] for row in NCCL])
def test_nccl(name: str, fields: dict[str, str], unknown: tuple[str, ...]) -> None:
    decoded = decode(name, "kernel")
    assert (decoded.family, decoded.kind, decoded.fields, decoded.unknown) == (
        "nccl",
        "collective",
        fields,
        unknown,
    )


FLASH = "pytorch_flash::Flash_fwd_kernel_traits<64, 128, 32, 4, false, false, cutlass::bfloat16_t>"


@pytest.mark.parametrize(
    ("name", "family", "fields"),
    [
        (
            f"void pytorch_flash::flash_fwd_kernel<{FLASH}, false, true, false, true>(pytorch_flash::Flash_fwd_params)",
            "flash-attention",
            {"direction": "forward", "head_dim": 64, "tile": [128, 32], "warps": 4, "dtype": "bf16",
             "dropout": False, "causal": True},
        ),
        ("fmha_cutlassB_f16_aligned_64x64_k64_dropout_sm80(P)", "efficient-attention",
         {"direction": "backward", "dtype": "fp16", "tile": [64, 64], "dropout": True, "arch": "sm_80"}),
        (
            # cuDNN writes f16 in this name for bf16 tensors too: no dtype.
            "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_cga1x1x1_kernel0_0",
            "cudnn",
            {"arch": "sm_90", "algorithm": "flash", "direction": "forward", "unit": "wgmma", "cluster": [1, 1, 1]},
        ),
        ("attn_fwd", "triton-attention", {"direction": "forward"}),
        ("kernel_unified_attention_2d", "vllm", {}),
    ],
    ids=lambda value: str(value)[:30],
)  # fmt: skip
def test_attention(name: str, family: str, fields: dict[str, Any]) -> None:
    decoded = decode(name, "kernel")
    assert (decoded.family, decoded.kind, decoded.fields) == (family, "attention", fields)


@pytest.mark.parametrize(
    ("name", "family", "kind", "functor"),
    [
        ("_geglu_tanh_forward_kernel", "liger", "pointwise", "geglu_tanh"),
        ("_swiglu_forward_kernel", "liger", "pointwise", "swiglu"),
        ("_rms_norm_backward_kernel", "liger", "normalization", "rms_norm"),
        ("liger_cross_entropy_kernel", "liger", "reduction", "cross_entropy"),
        ("_triton_rope", "liger", "pointwise", "rope"),
        ("void cub::DeviceRadixSortOnesweepKernel<X, false, long>(int*)", "cub", "other", "sort"),
        ("void at_cuda_detail::cub::DeviceScanKernel<X, long*>(long*)", "cub", "other", "scan"),
        ("void cub::CUB_200200_700_NS::DeviceReduceKernel<X, int>(int)", "cub", "reduction", None),
        ("void vllm::rms_norm_kernel<c10::BFloat16, 8, 2>(X)", "vllm", "normalization", "rms_norm"),
        (
            "std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type"
            " vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long)",
            "vllm",
            "normalization",
            "rms_norm",
        ),
        (
            "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16EEEvPT0_",
            "aiter",
            "normalization",
            "rms_norm",
        ),
        (
            "void split_embedding_codegen_forward_unweighted_kernel<float, long>(X)",
            "fbgemm",
            "other",
            "embedding",
        ),
        ("__amd_rocclr_copyBuffer", "rocclr", "pointwise", "copy"),
        ("matmul_kernel", "plain", "gemm", None),
        ("_layer_norm_fwd_fused", "plain", "normalization", None),
        ("_finalize_matmul_scatter_bf16", "unknown", "other", None),
        ("my_kernel", "unknown", "other", None),
    ],
    ids=lambda value: str(value)[:40],
)
def test_by_function(name: str, family: str, kind: str, functor: str | None) -> None:
    decoded = decode(name, "kernel")
    assert (decoded.family, decoded.kind, decoded.fields.get("functor")) == (family, kind, functor)


@pytest.mark.parametrize(
    ("name", "category", "kind", "fields"),
    [
        ("Memcpy HtoD (Pageable -> Device)", "gpu_memcpy", "copy",
         {"direction": "HtoD", "from": "Pageable", "to": "Device"}),
        ("Memcpy DtoD (Device -> Device)", None, "copy", {"direction": "DtoD", "from": "Device", "to": "Device"}),
        ("CopyDeviceToHost", "gpu_memcpy", "copy", {"direction": "DtoH", "from": "Device", "to": "Host"}),
        ("something else", "Memcpy", "copy", {}),
        ("Memset (Device)", "gpu_memset", "memset", {"to": "Device"}),
        ("Memset (Unknown)", "memset", "memset", {}),
        # The category alone decides: a kernel is never a copy, whatever it is called.
        ("Memcpy DtoD (Device -> Device)", "kernel", "other", {}),
        ("Memset (Device)", "kernel", "other", {}),
        ("CopyDeviceToHost", None, "other", {}),
    ],
)  # fmt: skip
def test_copies_and_memsets(name: str, category: str | None, kind: str, fields: dict[str, str]) -> None:
    decoded = decode(name, category)
    assert (decoded.kind, decoded.fields) == (kind, fields)
