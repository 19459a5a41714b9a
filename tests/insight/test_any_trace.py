"""Whatever a trace holds, it is explained, compared and shown without an error, and what is said adds up."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import tracelib
from rung.insight.bound import bound
from rung.insight.compare import compare
from rung.insight.diff import describe
from rung.insight.findings import examine, explanations, findings
from rung.insight.forward import chosen, forward, instances
from rung.insight.narrate import changed
from rung.insight.tree import Node, tree
from rung.show import as_json
from rung.show.diff import headings, side_by_side, verdict
from rung.show.read import report
from rung.trace import Trace
from shown import shown

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


def total(node: Node) -> int:
    return node.times * (len(node.kernels) + sum(map(total, node.children)))


@settings(max_examples=150, deadline=None)
@given(traces)
def test_any_trace_is_explained(trace: Trace) -> None:
    found = forward(trace)
    of_region = instances(trace, found.region)
    assert len(of_region) == found.instances >= found.alike >= 1
    case = examine(trace)
    seen = findings(case)
    assert all(one.title and one.advice and 0 <= one.share <= 1 for one in seen)
    assert {one.id for one in explanations(case)} <= {one.id for one in seen}
    json.loads(as_json.encode({"evidence": [dict(one.evidence) for one in seen]}))
    assert 0 <= found.gpu_idle_share <= 1
    limit = bound(found)
    assert (limit.limit == "no-gpu") is (found.gpu_busy_ns.median == 0)
    grown = tree(found.example)
    assert sum(map(total, grown.nodes)) + len(grown.loose) == len(found.rows)
    text = shown(report(trace, [found], grown))
    assert "\x1b" not in text
    encoded = as_json.encode(as_json.trace_json(trace, *chosen(trace, None, None)))
    assert len(json.loads(encoded)["kernels"]) == len(trace.kernels)


@settings(max_examples=150, deadline=None)
@given(traces, traces)
def test_any_two_are_compared(one: Trace, other: Trace) -> None:
    a, b = forward(one), forward(other)
    diff = describe(a, b)
    names_a, names_b = Counter(row.name for row in a.rows), Counter(row.name for row in b.rows)
    assert Counter(diff.same) + Counter(diff.gone) == names_a
    assert Counter(diff.same) + Counter(diff.new) == names_b
    assert {fusion.into for fusion in diff.fused} <= set(diff.new)
    assert all(len(fusion.sources) > 1 for fusion in diff.fused)
    sentences = [*diff.changed, *diff.unchanged]
    assert len(sentences) == len(set(sentences))
    for part in (*headings(diff), side_by_side(("A", "B"), (a, b)), verdict(diff.changed, diff.unchanged)):
        assert "\x1b" not in shown(part)
    json.loads(as_json.encode(as_json.diff_json(diff, "a", "b")))


@settings(max_examples=100, deadline=None)
@given(traces)
def test_against_itself_nothing_has_changed(trace: Trace) -> None:
    found: Any = forward(trace)
    assert changed(compare(found, found)) == []
