"""A part of a trace counts what is left, and its links still hold."""

from __future__ import annotations

import pytest

from rung.errors import UsageError
from rung.trace import Trace, narrow
from tracelib import annotation, call, copy, kernel, launch, op, read, work


@pytest.fixture
def trace() -> Trace:
    return read(
        annotation("outer", 0, 100),
        annotation("first", 1, 40),
        op("aten::a", 2, 30),
        launch(5, 2, correlation=1),
        kernel("k1", 10, 5, correlation=1),
        launch(20, 2, correlation=2),
        work("kernel", "k2", 25, 5, correlation=2, stream=9),
        annotation("second", 50, 40),
        op("aten::b", 51, 30),
        launch(55, 2, correlation=3),
        work("kernel", "k3", 60, 5, correlation=3, device=1),
        call("cudaLaunchKernel", 70, 2, correlation=99),
        copy(110, 5),
    )


def names(trace: Trace) -> list[str]:
    return [k.name for k in trace.kernels]


def counts(trace: Trace) -> dict[str, tuple[int, int, int]]:
    return {r.name: (len(r.kernels), len(r.launches), r.gpu_busy_ns) for r in trace.regions}


def test_all_of_it(trace: Trace) -> None:
    assert counts(narrow(trace)) == counts(trace)
    assert counts(trace) == {"outer": (3, 4, 15_000), "first": (2, 2, 10_000), "second": (1, 2, 5_000)}


def test_one_stream(trace: Trace) -> None:
    found = narrow(trace, stream="9")
    assert names(found) == ["k2"]
    assert counts(found) == {"outer": (1, 1, 5_000), "first": (1, 1, 5_000), "second": (0, 0, 0)}
    (only,) = found.kernels
    assert only.launch and only.op and only.region
    assert (only.launch.start_ns, only.op.name, only.region.name) == (20_000, "aten::a", "first")
    assert [k.name for k in only.launch.kernels] == ["k2"]


def test_one_device(trace: Trace) -> None:
    found = narrow(trace, device="1")
    assert names(found) == ["k3"]
    assert [n.start_ns for n in found.launches] == [55_000]


def test_both_at_once(trace: Trace) -> None:
    assert names(narrow(trace, device="0", stream="7")) == [
        "k1",
        "Memcpy DtoD (Device -> Device)",
    ]


def test_a_stretch_of_time_keeps_what_runs_in_it(trace: Trace) -> None:
    found = narrow(trace, between=(14_999, 25_001))
    assert names(found) == ["k1", "k2"]
    assert counts(found) == {"outer": (2, 2, 10_000), "first": (2, 2, 10_000)}


def test_what_only_touches_the_stretch_is_outside(trace: Trace) -> None:
    assert names(narrow(trace, between=(15_000, 25_000))) == []


def test_launches_without_work_stay_where_they_begin(trace: Trace) -> None:
    found = narrow(trace, between=(65_000, 75_000))
    assert (names(found), [n.start_ns for n in found.launches]) == ([], [70_000])
    assert counts(found) == {"outer": (0, 1, 0), "second": (0, 1, 0)}


def test_a_region_stays_with_its_work_though_it_ended_before(trace: Trace) -> None:
    late = read(annotation("fwd", 0, 10), launch(1, 2, 1), kernel("k", 50, 5, 1))
    found = narrow(late, between=(50_000, 60_000))
    assert counts(found) == {"fwd": (1, 1, 5_000)}


def test_the_whole_is_left_as_it_was(trace: Trace) -> None:
    assert len(trace.kernels) == 4
    narrow(trace, stream="9")
    assert len(trace.kernels) == len(trace.tables.kernels.name) == 4


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"device": "5"}, "no work on device 5; its devices: 0, 1"),
        ({"stream": "x"}, "no work on stream x; its streams: 7, 9"),
    ],
)
def test_what_is_not_there_is_named(trace: Trace, asked: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        narrow(trace, **asked)
