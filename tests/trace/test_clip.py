"""Work that overruns its successor on the stream."""

from __future__ import annotations

from tracelib import annotation, codes, copy, kernel, memset, read


def test_work_that_outlasts_its_successor_ends_where_that_begins() -> None:
    trace = read(kernel("long", 0, 100), kernel("next", 40, 20))
    long, following = trace.kernels
    assert (long.dur_ns, long.raw_dur_ns, following.dur_ns) == (40_000, 100_000, 20_000)
    assert codes(trace)["clipped-duration"] == 1
    assert trace.regions[0].gpu_busy_ns == 60_000


def test_work_that_ends_with_its_successor_only_overlaps() -> None:
    trace = read(kernel("a", 0, 60), kernel("b", 40, 20))
    assert [k.dur_ns for k in trace.kernels] == [60_000, 20_000]
    assert codes(trace)["overlap"] == 1
    assert "clipped-duration" not in codes(trace)


def test_work_that_touches_its_successor_is_in_order() -> None:
    trace = read(kernel("a", 0, 40), kernel("b", 40, 20))
    assert not {"overlap", "clipped-duration"} & set(codes(trace))


def test_streams_and_devices_run_beside_each_other() -> None:
    trace = read(kernel("a", 0, 100), kernel("b", 10, 5, stream=8), kernel("c", 20, 5, device=1))
    assert [k.dur_ns for k in trace.kernels] == [100_000, 5_000, 5_000]
    assert not {"overlap", "clipped-duration"} & set(codes(trace))


def test_only_the_next_on_the_stream_clips() -> None:
    trace = read(kernel("a", 0, 100), copy(10, 80), memset(20, 10))
    assert [k.dur_ns for k in trace.kernels] == [10_000, 10_000, 10_000]
    assert [k.raw_dur_ns for k in trace.kernels] == [100_000, 80_000, 10_000]
    assert codes(trace)["clipped-duration"] == 2


def test_busy_never_exceeds_span_nor_span_wall() -> None:
    trace = read(
        annotation("fwd", 0, 10), kernel("a", 1, 100), kernel("b", 5, 3), kernel("c", 2, 90, stream=8)
    )
    (region,) = trace.regions
    assert region.gpu_busy_ns <= region.gpu_span_ns <= region.wall_ns
    assert (region.gpu_busy_ns, region.gpu_span_ns) == (91_000, 91_000)
