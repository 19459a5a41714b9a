"""What limits a forward. `one` gives 10 us of wall for each kernel, and 10 us more."""

from __future__ import annotations

from typing import Any

import pytest

from handmade import GELU, MUL, TILE_A, one, ran
from rung.insight.bound import bound
from rung.insight.forward import forward
from tracelib import annotation, kernel, launch, op, read, step, work

BIG = [8192, 8192]


@pytest.mark.parametrize(
    ("kernels", "limit"),
    [
        ([ran(TILE_A, "aten::mm", BIG, BIG, dur=40)], "compute-bound"),
        ([ran(GELU, "aten::gelu", BIG, dur=40)], "memory-bound"),
        ([ran(GELU, "aten::gelu", BIG, dur=4)], "overhead-bound"),
        ([ran(TILE_A, "aten::mm", [1, 64], [64, 64], dur=40)], "memory-bound"),
        ([ran(TILE_A, "aten::mm", [0, 0], [0, 0], dur=40)], "memory-bound"),
        ([ran(TILE_A, "aten::mm", dur=40)], "mixed"),
        ([ran(TILE_A, "aten::mm", BIG, BIG, dur=9), ran(GELU, "aten::gelu", BIG, dur=9)], "mixed"),
    ],
)
def test_limits(kernels: list[Any], limit: str) -> None:
    assert bound(one(*kernels)).limit == limit


def test_no_share_is_more_than_all_of_it() -> None:
    both = [launch(2, 1, 1), launch(4, 1, 2), kernel(GELU, 5, 40, 1), kernel(MUL, 5, 40, 2, stream=8)]
    said = bound(forward(read(annotation("fwd", 0, 44), *both))).sentence
    assert said == "memory-bound: the GPU works 40.0 µs of each 44.0 µs, 100 % of it moving bytes"


def test_a_gpu_that_waits_part_of_the_time_is_bound_by_neither_side() -> None:
    """40 of 50 us: a faster kernel would in part only wait longer."""
    events = [launch(2, 1, 1), kernel(TILE_A, 5, 40, 1)]
    found = bound(forward(read(annotation("fwd", 0, 50), *events)))
    assert found.limit == "mixed"
    assert "waits for the CPU the rest (20 %); 100 % of its work is matrix products" in found.sentence


def test_a_copy_from_the_host_goes_at_the_pace_of_the_bus() -> None:
    """30 of 40 us; the device's memory is no limit to it."""
    pinned = work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 4, 30, 1, bytes=1000)
    events = [launch(2, 1, 1), launch(3, 1, 2), pinned, kernel(GELU, 34, 10, 2)]
    found = bound(forward(read(annotation("fwd", 0, 42), *events)))
    assert found.limit == "mixed"
    assert found.sentence.endswith("25 % moving bytes, 75 % copying from or to the host")


def test_a_trace_of_the_gpu_alone_does_not_tell_whom_it_waits_for() -> None:
    found = bound(forward(read(step(1, 0, 50), kernel(TILE_A, 5, 40))))
    assert "and idles the rest (20 %)" in found.sentence


def test_no_work_and_work_on_the_cpu_are_told_apart() -> None:
    idle = [
        annotation("idle", 0, 50),
        annotation("fwd", 100, 50),
        launch(102, 1, 1),
        kernel("k", 110, 5, 1),
    ]
    assert bound(forward(read(*idle), "idle")).sentence == "no GPU work"
    on_cpu = bound(forward(read(annotation("fwd", 0, 50), op("aten::mm", 1, 9))))
    assert on_cpu.limit == "no-gpu"
    assert "stand in for kernels" in on_cpu.sentence
