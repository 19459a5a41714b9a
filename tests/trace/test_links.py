"""Launch -> device work, and what is said where a link is doubtful."""

from __future__ import annotations

import pytest

from tracelib import BACKWARD, arrow, call, codes, copy, kernel, launch, memset, op, read, span, step


def test_the_driver_call_inside_the_runtime_call_is_the_launch() -> None:
    runtime, driver = launch(10, 20, 5), call("cuLaunchKernelEx", 12, 6, correlation=5)
    for events in ((runtime, driver), (driver, runtime)):
        trace = read(*events, kernel("k", 40, 1, 5))
        assert [x.name for x in trace.launches] == ["cuLaunchKernelEx"]
        assert "ambiguous-link" not in codes(trace)


def test_a_driver_call_of_its_own_inside_a_runtime_call_counts_once() -> None:
    trace = read(launch(10, 20, 5), call("cuLaunchKernel", 12, 6, correlation=6), kernel("k", 40, 1, 5))
    assert [x.name for x in trace.launches] == ["cudaLaunchKernel"]


def test_two_calls_with_one_correlation_are_ambiguous_and_both_launches() -> None:
    trace = read(launch(10, 5, 5), launch(20, 5, 5), kernel("k", 40, 1, 5))
    assert len(trace.launches) == 2
    assert trace.kernels[0].launch == trace.launches[0]
    assert codes(trace)["ambiguous-link"] == 1


def test_several_kernels_of_a_plain_launch_are_ambiguous_and_stay() -> None:
    trace = read(launch(10, 5, 5), kernel("a", 20, 1, 5), kernel("b", 30, 1, 5), kernel("c", 40, 1, 5))
    assert [k.name for k in trace.launches[0].kernels] == ["a", "b", "c"]
    assert codes(trace)["ambiguous-link"] == 1


@pytest.mark.parametrize("name", ["cudaGraphLaunch", "hipGraphLaunch", "cuGraphLaunch"])
def test_several_kernels_of_a_graph_are_not(name: str) -> None:
    trace = read(call(name, 10, 5, correlation=5), kernel("a", 20, 1, 5), copy(30, 1, 5))
    (graph,) = trace.launches
    assert graph.is_graph
    assert len(graph.kernels) == 2
    assert "ambiguous-link" not in codes(trace)


def test_a_graph_id_marks_a_graph_launch_of_any_name() -> None:
    nodes = [kernel(name, at, 1, 5, **{"graph id": 3}) for name, at in (("a", 20), ("b", 30))]
    trace = read(call("newGraphReplay", 10, 5, correlation=5), *nodes)
    assert trace.launches[0].is_graph
    assert "ambiguous-link" not in codes(trace)


@pytest.mark.parametrize("correlation", [0, None, "0", "x", 1.5, True, [7], {"a": 1}])
def test_what_is_no_correlation_joins_nothing(correlation: object) -> None:
    work = kernel("k", 40, 1)
    work["args"]["correlation"] = correlation
    early = kernel("early", 5, 1)  # begins before any launch, so that order joins nothing either
    trace = read(launch(10, 5, 0), launch(12, 2, 0), work, early)
    assert [k.launch for k in trace.kernels] == [None, None]
    assert [k.stream for k in trace.kernels] == [7, 7]
    assert codes(trace)["unlinked"] == 2


def test_a_correlation_in_quotes_is_a_number() -> None:
    trace = read(call("cudaLaunchKernel", 10, 5, correlation="5"), kernel("k", 20, 1, 5))
    assert trace.kernels[0].launch == trace.launches[0]


def test_a_flow_joins_what_has_no_correlation() -> None:
    cause, other, work = launch(10, 5, 0), launch(20, 5, 0), kernel("k", 40, 1)
    trace = read(op("aten::mm", 9, 7), cause, other, work, *arrow("ac2g", 1, cause, work))
    (linked,) = trace.kernels
    assert linked.launch is not None
    assert linked.launch.start_ns == 1_000
    assert linked.op is not None
    assert linked.op.name == "aten::mm"
    assert codes(trace)["launch-without-kernel"] == 1


def test_a_flow_id_with_two_starts_joins_nothing() -> None:
    one, two, work = launch(10, 5, 0), launch(20, 5, 0), kernel("k", 40, 1)
    second_start, _ = arrow("ac2g", 1, two, work)
    trace = read(one, two, work, *arrow("ac2g", 1, one, work), second_start)
    assert trace.kernels[0].launch is None
    assert codes(trace)["id-collision"] == 1


def test_flow_ends_without_a_start_are_no_news() -> None:
    cause, work = launch(10, 5, 5), kernel("k", 40, 1, 5)
    _, end = arrow("ac2g", 1, cause, work)
    assert read(cause, work, end).warnings == read(cause, work).warnings


def test_order_joins_each_sort_of_work_by_itself() -> None:
    trace = read(
        call("cudaMemcpyAsync", 10, 1),
        launch(12, 1, 0),
        call("cudaMemsetAsync", 14, 1),
        launch(16, 1, 0),
        *(memset(20, 1), kernel("first", 21, 1), copy(22, 1), kernel("second", 30, 1)),
    )
    assert [(k.name.split()[0], k.launch.start_ns if k.launch else None) for k in trace.kernels] == [
        ("Memset", 4_000),
        ("first", 2_000),
        ("Memcpy", 0),
        ("second", 6_000),
    ]


@pytest.mark.parametrize(
    "work",
    [
        [kernel("a", 20, 1)],
        [kernel("a", 20, 1), kernel("b", 30, 1, stream=8)],
        [kernel("a", 20, 1), kernel("b", 5, 1)],
        [kernel("a", 20, 1), kernel("b", 30, 1, 99)],
    ],
    ids=["one missing", "two streams", "before its launch", "launched outside the file"],
)
def test_order_joins_nothing_where_it_would_be_a_guess(work: list[dict[str, object]]) -> None:
    trace = read(launch(10, 1, 0), launch(12, 1, 0), *work)
    assert [k.launch for k in trace.kernels] == [None] * len(work)


def test_an_external_id_joins_nothing() -> None:
    trace = read(op("aten::mm", 0, 5, **{"External id": 3}), kernel("k", 40, 1, 8, **{"External id": 3}))
    assert trace.kernels[0].op is None


def test_the_op_is_the_innermost_around_the_launch_on_its_own_thread() -> None:
    trace = read(
        op("aten::linear", 0, 50),
        op("aten::addmm", 5, 40),
        op("elsewhere", 8, 10, tid=BACKWARD),
        launch(10, 5, 1),
        launch(60, 5, 2),
        kernel("a", 20, 1, 1),
        kernel("b", 70, 1, 2),
    )
    assert [k.op.name if k.op else None for k in trace.kernels] == ["aten::addmm", None]
    assert [o.name for o in trace.chain(trace.kernels[0]).ops] == ["aten::linear", "aten::addmm"]
    assert trace.chain(trace.kernels[1]).ops == ()


def test_the_stream_is_the_argument_then_the_sycl_queue_then_the_tid() -> None:
    trace = read(
        kernel("a", 1, 1, stream=3, **{"sycl queue": 9}),
        span("kernel", "b", 2, 1, pid=0, tid=5, **{"sycl queue": "0x7f"}),
        span("kernel", "c", 3, 1, pid=0, tid=5),
        span("kernel", "d", 4, 1, pid=2, tid="stream 7", device="1"),
    )
    assert [k.stream for k in trace.kernels] == [3, "0x7f", 5, "stream 7"]
    assert [k.device for k in trace.kernels] == [0, 0, 0, 1]


def test_an_argument_of_a_wrong_type_spoils_no_other() -> None:
    trace = read(launch(1, 1, 5), kernel("k", 5, 1, 5, device=[0]))
    (work,) = trace.kernels
    assert (work.correlation, work.stream, work.launch) == (5, 7, trace.launches[0])


@pytest.mark.parametrize(
    ("name", "launches"),
    [
        ("cudaLaunchKernel", True),
        ("cudaLaunchKernelExC", True),
        ("cudaLaunchCooperativeKernel", True),
        ("cuLaunchKernelEx", True),
        ("hipExtModuleLaunchKernel", True),
        ("cudaMemcpyAsync", True),
        ("cudaMemset2DAsync", True),
        ("urEnqueueKernelLaunch", True),
        ("cudaLaunchHostFunc", False),
        ("cudaFuncGetAttributes", False),
        ("cudaGraphAddMemcpyNode", False),
        ("cudaDeviceSynchronize", False),
        ("cudaMalloc", False),
    ],
)
def test_which_calls_launch_though_their_work_is_not_in_the_file(name: str, launches: bool) -> None:
    assert len(read(call(name, 10, 1)).launches) == launches


def test_an_occupancy_query_belongs_to_the_next_kernel_launch_of_its_op() -> None:
    query = "cudaOccupancyMaxActiveBlocksPerMultiprocessor"
    trace = read(
        op("aten::mm", 0, 30),
        call(query, 5, 1),
        call("cudaMemsetAsync", 7, 1, correlation=1),
        launch(10, 1, 2),
        launch(15, 1, 3),
        op("aten::other", 40, 20),
        call(query, 41, 1, tid=BACKWARD),
        launch(45, 1, 4),
        call(query, 50, 1),
        op("aten::relu", 70, 9),
        launch(72, 1, 5),
        *(memset(80, 1, 1), *(kernel(f"k{i}", 90 + i, 0.5, i) for i in (2, 3, 4, 5))),
    )
    assert {k.name: k.occupancy_query for k in trace.kernels} == {
        "Memset (Device)": False,  # a memset needs no occupancy
        "k2": True,
        "k3": False,  # k2 came between
        "k4": False,  # asked on another thread
        "k5": False,  # asked by another op
    }


def test_skew_is_the_largest_of_each_device() -> None:
    trace = read(
        launch(10, 5, 1),
        launch(20, 5, 2),
        launch(30, 5, 3),
        kernel("a", 9, 0.1, 1),
        kernel("b", 18.5, 0.1, 2),
        kernel("c", 29.75, 0.1, 3, device=1),
    )
    (warning,) = [w for w in trace.warnings if w.code == "clock-skew"]
    assert warning.count == 3
    assert "1500 ns on device 0, 250 ns on device 1" in warning.message


def test_latency_is_from_launch_to_start() -> None:
    trace = read(launch(10, 5, 1), kernel("a", 17.5, 1, 1), kernel("b", 30, 1, 9))
    assert [k.latency_ns for k in trace.kernels] == [7_500, None]


def test_launches_without_work_are_counted_by_step() -> None:
    trace = read(
        step(0, 0, 50),
        step(1, 50, 50),
        launch(10, 1, 1),
        launch(60, 1, 2),
        launch(70, 1, 3),
        kernel("a", 20, 1, 1),
        launch(200, 1, 4),
    )
    (warning,) = [w for w in trace.warnings if w.code == "launch-without-kernel"]
    assert warning.count == 3
    assert warning.message.endswith("2 in step 1, 1 outside steps")


def test_a_backward_op_knows_its_forward_op() -> None:
    forward, inner = op("aten::linear", 10, 20), op("aten::addmm", 10, 15)
    backward = op("autograd::engine::evaluate_function: AddmmBackward0", 100, 20, tid=BACKWARD)
    trace = read(forward, inner, backward, *arrow("fwdbwd", 7, forward, backward))
    assert {o.name: o.forward.name if o.forward else None for o in trace.ops} == {
        "aten::linear": None,
        "aten::addmm": None,
        "autograd::engine::evaluate_function: AddmmBackward0": "aten::linear",
    }
