"""What the article prints, in its own names and times, and the rules for what it does not print.

Both parts ran on one NVIDIA A100-SXM4-80GB. A time here is the article's, in ns, unless a rule makes it.
"""

from __future__ import annotations

PART_1 = "https://huggingface.co/blog/torch-profiler"
PART_2 = "https://huggingface.co/blog/torch-mlp-fusion"

DEVICE = {
    "id": 0,
    "name": "NVIDIA A100-SXM4-80GB",
    "computeMajor": 8,
    "computeMinor": 0,
    "maxThreadsPerBlock": 1024,
    "maxThreadsPerMultiprocessor": 2048,
    "regsPerBlock": 65536,
    "warpSize": 32,
    "sharedMemPerBlock": 49152,
    "numSms": 108,
    "regsPerMultiprocessor": 65536,
    "sharedMemPerBlockOptin": 166912,
    "sharedMemPerMultiprocessor": 167936,
}
"""As CUDA describes this model."""

# Printed whole.
GEMM_4096 = "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nn"
LINEAR_GEMM = "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_32x1_tn_align8"
FUSED = "triton_poi_fused__unsafe_view_gelu_mul_0"
LIGER = "_geglu_tanh_forward_kernel"
COPY = "Memcpy DtoD (Device -> Device)"

GEMM_64 = "ampere_bf16_s16816gemm_bf16_..."
"""Printed as `ampere_bf16_s16816gemm...`. The inputs are bf16; more would make up a tile and stages."""

# Printed with their middle left out. For a GEMM it is as in the one cuBLAS name printed whole, for pointwise
# kernels as PyTorch spells it.
GATE_UP_GEMM = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"
DOWN_GEMM = "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn"


def _elementwise(functor: str, tensors: int) -> str:
    pointers = f"std::array<char*, {tensors}ul>"
    name = "void at::native::vectorized_elementwise_kernel"
    return f"{name}<4, {functor}, {pointers} >(int, {functor}, {pointers})"


GELU = _elementwise(
    "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#1}"
    "::operator()() const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}",
    2,
)
MUL = _elementwise(
    "at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, "
    "at::native::binary_internal::MulFunctor<float> >",
    3,
)
ADD = _elementwise("at::native::CUDAFunctor_add<c10::BFloat16>", 3)

COMPLETED = frozenset({GATE_UP_GEMM, DOWN_GEMM, GEMM_64, GELU, MUL, ADD})
"""Names that the article does not print whole."""

# Part 1: matmul-add.
COLD_SELF_CPU_NS = 2_314_000
COLD_SELF_CUDA_NS = 23_104
COLD_REGION_STARTS_NS = (138_736, 517_926, 610_039)
COLD_MATMUL_STARTS_NS = (366_493, 523_447, 614_527)
COLD_SYNC_NS = 1_780_000
COLD_GPU_SPAN_NS = 26_000
ADD_FOOTPRINT = {"registers per thread": 32, "shared memory": 0}
GEMM_4096_NS = 580_000
COPY_BYTES = 33_554_432
COPY_NS = 33_000
EAGER_STEPS_NS = (100_000, 70_000, 70_000)
COMPILED_STEPS_NS = (200_000, 100_000, 100_000)

# Part 2: the MLP.
GATE_UP_NS = 190_000
DOWN_NS = 170_000
FUSED_NS = 89_400
LIGER_NS = 92_800

BYTES_PER_NS = 2_039
"""NVIDIA's data sheet of the A100 80GB: 2,039 GB/s."""

SHORTEST_KERNEL_NS = 2_000
"""Rule: start and end of a kernel alone take about this long."""


def memory_time_ns(size: int) -> int:
    """Rule for a kernel without a printed time: `size` bytes at the speed of its memory."""
    return max(SHORTEST_KERNEL_NS, size // BYTES_PER_NS)
