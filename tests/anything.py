"""Any trace at all: strategies for hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

import tracelib

OPS = (
    *("aten::mm", "aten::addmm", "aten::mul", "aten::gelu", "aten::view", "aten::copy_", "aten::sum", "MyOp"),
    *(
        "aten::contiguous",
        "Torch-Compiled Region: 0/0",
        "Torch-Compiled Region: 1/2",
        "dynamo",
        "Pregraph bytecode",
    ),
)
KERNELS = (
    "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT",
    "nvjet_sm90_tst_64x8_64x16_1x2_h_bz_bias_TNT",
    "void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl(int)>",
    "triton_poi_fused_gelu_mul_0",
    "_geglu_tanh_forward_kernel",
    "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
)
weird = st.text(max_size=12) | st.sampled_from(
    ["[bold]", "[/]", "\x1b[31m", ":dog:", "a\nb", "ProfilerStep#x"]
)
shape = st.lists(st.integers(0, 3) | st.just(2**40), max_size=3)
dims = st.lists(shape | st.none() | st.integers() | st.lists(shape, max_size=2) | weird, max_size=4)
dtypes = st.lists(
    st.sampled_from(["float", "c10::BFloat16", "Scalar", "", "long"]) | weird | st.none(), max_size=4
)
args = st.fixed_dictionaries(
    {}, optional={"Input Dims": dims | weird, "Input type": dtypes, "Input Strides": weird}
)
time = st.integers(0, 200).map(float)
length = st.integers(-1, 80).map(float)
number = st.integers(0, 6)
made_args = st.fixed_dictionaries({}, optional={"bytes": st.integers(-1, 2**50) | weird | st.none()})

event = st.one_of(
    st.builds(lambda n, s, d, a: tracelib.op(n, s, d, **a), st.sampled_from(OPS) | weird, time, length, args),
    st.builds(tracelib.annotation, st.sampled_from(["fwd", "fwd", "bwd"]) | weird, time, length),
    st.builds(tracelib.step, st.integers(0, 3), time, length),
    st.builds(tracelib.launch, time, length, number),
    st.builds(lambda s, d, c: tracelib.call("cudaGraphLaunch", s, d, correlation=c), time, length, number),
    st.builds(
        lambda n, s, d, c, stream: tracelib.kernel(n, s, d, c, stream=stream),
        st.sampled_from(KERNELS) | weird, time, length, number, st.integers(7, 8),
    ),
    st.builds(lambda s, d, c, a: tracelib.copy(s, d, c, **a), time, length, number, made_args),
    st.builds(lambda s, d, c, a: tracelib.memset(s, d, c, **a), time, length, number, made_args),
)  # fmt: skip
traces = st.lists(event, min_size=1, max_size=25).map(lambda events: tracelib.read(*events))
