"""Without a GPU the innermost compute ops stand in for kernels."""

from __future__ import annotations

from tracelib import annotation, call, codes, op, read


def test_an_eager_linear_is_one_gemm() -> None:
    trace = read(
        annotation("fwd", 0, 200),
        op("aten::linear", 10, 90),
        op("aten::t", 12, 8),
        op("aten::transpose", 14, 4),
        op("aten::as_strided", 15, 1),
        op("aten::matmul", 25, 70),
        op("aten::mm", 30, 50),
        op("aten::gelu", 110, 20),
        op("aten::mul", 140, 20),
        op("aten::view", 170, 5),
    )
    assert trace.stand_in
    assert trace.incomplete is None
    assert codes(trace) == {"no-gpu": 1, "no-steps": 1}
    assert [(k.name, k.category, k.start_ns, k.dur_ns) for k in trace.kernels] == [
        ("aten::mm", "op", 30_000, 50_000),
        ("aten::gelu", "op", 110_000, 20_000),
        ("aten::mul", "op", 140_000, 20_000),
    ]
    mm = trace.kernels[0]
    assert (mm.kind, mm.device, mm.stream, mm.launch) == ("gemm", None, None, None)
    assert [o.name for o in trace.chain(mm).ops] == ["aten::linear", "aten::matmul", "aten::mm"]
    (region,) = trace.regions
    assert (len(region.kernels), len(region.launches), region.gpu_busy_ns, region.wall_ns) == (
        3,
        0,
        0,
        200_000,
    )


def test_an_op_that_does_one_piece_of_work_stands_for_what_it_calls() -> None:
    trace = read(op("aten::addmm", 0, 50), op("aten::expand", 2, 2), op("aten::copy_", 5, 10))
    assert [k.name for k in trace.kernels] == ["aten::addmm"]


def test_a_copy_on_behalf_of_an_op_that_computes_is_a_part_of_it() -> None:
    """`scores * 0.25` converts the number, a mean clears its sum; a matrix copied for its product is work."""
    trace = read(
        op("aten::mul", 0, 30), op("aten::to", 2, 10), op("aten::_to_copy", 3, 8), op("aten::copy_", 5, 4),
        op("aten::mean", 40, 30), op("aten::sum", 42, 20), op("aten::fill_", 45, 2), op("aten::div_", 64, 4),
        op("aten::matmul", 80, 30), op("aten::clone", 82, 9), op("aten::copy_", 85, 4), op("aten::mm", 95, 9),
        op("aten::clone", 120, 9), op("aten::copy_", 125, 3),
    )  # fmt: skip
    assert [(k.name, k.start_ns) for k in trace.kernels] == [
        ("aten::mul", 0),
        ("aten::sum", 42_000),
        ("aten::div_", 64_000),
        ("aten::copy_", 85_000),
        ("aten::mm", 95_000),
        ("aten::copy_", 125_000),
    ]


def test_a_compiled_region_is_no_work_but_its_fused_kernel_is() -> None:
    trace = read(
        op("TorchDynamo Cache Lookup", 0, 5),
        op("Torch-Compiled Region: 0/0", 10, 100),
        op("AOTDispatcher Runtime Wrapper Prologue", 12, 5),
        op("aten::mm", 20, 30),
        op("graph_0_cpp_fused__unsafe_view_gelu_mul_0", 60, 20),
    )
    assert [k.name for k in trace.kernels] == ["aten::mm", "graph_0_cpp_fused__unsafe_view_gelu_mul_0"]


def test_metadata_ops_alone_are_no_work() -> None:
    trace = read(op("aten::t", 0, 5), op("aten::view", 10, 5), op("aten::empty", 20, 5))
    assert not trace.stand_in
    assert len(trace.kernels) == 0
    assert trace.incomplete == "no GPU activity in this trace, and no compute ops"


def test_launches_without_work_are_no_cpu_trace() -> None:
    trace = read(op("aten::mm", 0, 50), call("cudaLaunchKernel", 10, 5, correlation=1))
    assert not trace.stand_in
    assert len(trace.kernels) == 0
    assert trace.incomplete == "1 launches, but no GPU work in this trace"
    assert "launch-without-kernel" not in codes(trace)
