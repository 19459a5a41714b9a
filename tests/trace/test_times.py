"""Times that are lost, negative or never came."""

from __future__ import annotations

import pytest

from tracelib import Event, annotation, call, codes, frame, kernel, launch, op, read, span


def test_a_trace_may_begin_at_zero() -> None:
    trace = read(annotation("f", 0, 100), op("aten::mm", 0, 0), launch(50, 1, 1), kernel("k", 60, 1, 1))
    assert "zero-time" not in codes(trace)
    assert (trace.origin_ns, trace.regions[0].cpu_ns) == (0, 100_000)


def test_a_start_at_zero_far_from_an_epoch_is_lost_whatever_its_duration() -> None:
    epoch = 1_719_853_884_000_000
    trace = read(annotation("f", epoch, 100), launch(epoch + 1, 1, 1), kernel("k", 0, 30, 1))
    assert codes(trace) == {"zero-time": 1, "no-steps": 1}
    (lost,) = trace.kernels
    assert (lost.start_ns, lost.dur_ns, lost.raw_dur_ns, lost.latency_ns) == (0, 0, 30_000, None)
    assert lost.region == trace.regions[0]
    assert trace.span_ns == 100_000


def test_half_a_trace_at_zero_leaves_the_other_half() -> None:
    lost = [kernel(f"lost{i}", 0, 0, i) for i in (1, 2, 3)]
    launches = [launch(1_000 + 10 * i, 5, i) for i in (1, 2, 3, 4)]
    trace = read(annotation("f", 1_000, 100), *launches, *lost, kernel("k", 1_060, 20, 4))
    (region,) = trace.regions
    assert codes(trace)["zero-time"] == 3
    assert (len(region.kernels), region.gpu_busy_ns, region.gpu_span_ns, trace.span_ns) == (
        4,
        20_000,
        20_000,
        100_000,
    )


def test_work_whose_launch_lost_its_time_belongs_where_it_ran() -> None:
    lost = launch(0, 0, 1)
    trace = read(annotation("f", 1_000, 100), annotation("g", 1_200, 100), lost, kernel("k", 1_250, 20, 1))
    (kernel_,) = trace.kernels
    assert (kernel_.region, kernel_.launch, kernel_.latency_ns) == (trace.regions[1], trace.launches[0], None)
    assert codes(trace) == {"zero-time": 1, "no-steps": 1}


def test_a_span_without_a_time_is_counted_only() -> None:
    timeless = kernel("k", 0, 5, 1)
    del timeless["ts"]
    trace = read(annotation("f", 0, 100), launch(50, 1, 1), timeless)
    assert codes(trace)["zero-time"] == 1
    assert (len(trace.regions[0].kernels), trace.regions[0].gpu_busy_ns) == (1, 0)


@pytest.mark.parametrize(
    ("dur", "code"),
    [
        (-1, "unfinished-event"),
        (-50, "unfinished-event"),
        (None, "unfinished-event"),
        (-7, "negative-duration"),
    ],
)
def test_a_duration_that_is_none_is_left_out_of_sums(dur: float | None, code: str) -> None:
    work = kernel("k", 50, 0, 1)
    work["dur"] = dur
    trace = read(annotation("f", 0, 100), launch(40, 1, 1), work, kernel("l", 60, 10, 1))
    assert codes(trace)[code] == 1
    first, _ = trace.kernels
    assert (first.dur_ns, first.end_ns, first.raw_dur_ns) == (0, 50_000, (dur or 0) * 1000)
    assert trace.regions[0].gpu_busy_ns == 10_000


def test_an_unfinished_op_holds_what_was_launched_before_its_sibling() -> None:
    trace = read(
        op("outer", 0, 100),
        op("torn", 10, -1),
        *(launch(20, 1, 1), launch(60, 1, 2), launch(110, 1, 3)),
        op("sibling", 50, -1),
        *(kernel("a", 30, 1, 1), kernel("b", 70, 1, 2), kernel("c", 120, 1, 3)),
    )
    assert [k.op.name if k.op else None for k in trace.kernels] == ["torn", "sibling", None]
    assert [o.dur_ns for o in trace.ops] == [100_000, 0, 0]


def begin(name: str, at: float, **place: object) -> Event:
    return {"ph": "B", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": at, **place}


def end(at: float, **place: object) -> Event:
    return {"ph": "E", "pid": 1, "tid": 1, "ts": at, **place}


def test_begin_and_end_events_make_one_span() -> None:
    trace = read(
        begin("a", 10), begin("b", 20), end(30), begin("other", 25, tid=2), end(50), end(90, tid=2), end(95)
    )
    assert [(o.name, o.start_ns, o.dur_ns) for o in trace.ops] == [
        ("a", 0, 40_000),
        ("b", 10_000, 10_000),
        ("other", 15_000, 65_000),
    ]
    assert trace.ops[1].parent == trace.ops[0]
    assert "unfinished-event" not in codes(trace)


def test_a_begin_without_an_end_is_unfinished() -> None:
    trace = read(begin("a", 10), begin("b", 20), end(30))
    assert [(o.name, o.dur_ns) for o in trace.ops] == [("a", 0), ("b", 10_000)]
    assert codes(trace)["unfinished-event"] == 1


def test_a_frame_that_never_returns_does_not_swallow_what_follows_its_caller() -> None:
    trace = read(
        frame("caller", 0, 50), frame("never returns", 10, 9_000), op("in", 20, 5), op("after", 60, 5)
    )
    assert codes(trace)["crossing-spans"] == 1
    assert [o.parent for o in trace.ops] == [None, None]


def test_events_that_take_no_time_are_no_spans() -> None:
    instant = {"ph": "i", "cat": "cpu_op", "name": "now", "pid": 1, "tid": 1, "ts": 5, "s": "t"}
    counter = {"ph": "C", "name": "memory", "pid": 1, "ts": 5, "args": {"bytes": 1}}
    trace = read(op("aten::mm", 10, 5), instant, counter)
    assert (trace.events, len(trace.ops), trace.origin_ns) == (3, 1, 10_000)


def test_synchronisation_is_no_work() -> None:
    sync = span("cuda_sync", "Stream Sync", 10, 50, pid=0, tid=7, stream=7)
    trace = read(
        annotation("f", 0, 100),
        call("cudaDeviceSynchronize", 5, 60),
        sync,
        launch(1, 1, 1),
        kernel("k", 10, 5, 1),
    )
    assert (len(trace.kernels), len(trace.launches), trace.regions[0].gpu_busy_ns) == (1, 1, 5_000)
