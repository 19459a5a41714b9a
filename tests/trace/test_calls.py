"""Calls that put no work on a device: where they lie, and that launches are not among them."""

from __future__ import annotations

from rung.trace import Trace, narrow
from rung.trace.stored import args_from_arrays, from_arrays, to_arrays
from tracelib import annotation, call, kernel, launch, op, read, span


def trace() -> Trace:
    return read(
        annotation("fwd", 0, 50),
        op("aten::item", 1, 20),
        launch(2, 3, correlation=1),
        call("cudaStreamSynchronize", 6, 14),
        span("overhead", "Lazy Function Loading", 30, 4, pid=-1, tid=0),
        kernel("toy", 8, 10, correlation=1),
        call("cudaDeviceSynchronize", 60, 30),
    )


def test_all_but_launches_by_start() -> None:
    calls = trace().tables.calls
    assert calls.name == ["cudaStreamSynchronize", "Lazy Function Loading", "cudaDeviceSynchronize"]
    assert calls.start_ns.tolist() == [6_000, 30_000, 60_000]
    assert calls.dur_ns.tolist() == [14_000, 4_000, 30_000]
    assert calls.op.tolist() == [0, -1, -1]
    assert calls.overhead.tolist() == [False, True, False]


def test_a_region_holds_what_happened_while_it_was_open() -> None:
    assert trace().tables.regions.calls.of(0).tolist() == [0, 1]


def test_they_stay_when_work_goes() -> None:
    left = narrow(trace(), between=(0, 5_000))
    assert len(left.kernels) == 0
    assert left.tables.regions.calls.of(0).tolist() == [0, 1]


def test_they_are_stored() -> None:
    arrays = to_arrays(trace())
    again = from_arrays("again", arrays, lambda: args_from_arrays(arrays))
    assert again.tables.calls.name == trace().tables.calls.name
    assert again.tables.regions.calls.of(0).tolist() == [0, 1]
