"""Lanes of spans, by hand."""

from __future__ import annotations

from rung.insight.breakdown import breakdown
from rung.insight.forward import forward
from rung.insight.timeline import Timeline, timeline
from rung.trace import Trace
from tracelib import BACKWARD, annotation, call, kernel, launch, op, read


def small() -> Trace:
    return read(
        annotation("fwd", 0, 60),
        op("aten::linear", 5, 20),
        op("aten::mm", 8, 12),
        launch(10, 4, 1),
        op("aten::mul", 30, 10, tid=BACKWARD),
        {**launch(32, 3, 2), "tid": BACKWARD},
        call("cudaDeviceSynchronize", 45, 10),
        kernel("gemm", 15, 20, 1),
        kernel("mul", 40, 5, 2),
    )


def named(drawn: Timeline) -> list[tuple[str, list[tuple[str, int, int]]]]:
    return [
        (
            lane.label,
            [
                (drawn.names[n], int(s), int(d))
                for n, s, d in zip(lane.name, lane.start_ns, lane.depth, strict=True)
            ],
        )
        for lane in drawn.lanes
    ]


def test_a_lane_for_annotations_each_thread_and_each_stream() -> None:
    assert named(timeline(small())) == [
        ("annotations", [("fwd", 0, 0)]),
        (
            "CPU thread 100",
            [
                ("aten::linear", 5_000, 0),
                ("aten::mm", 8_000, 1),
                ("cudaLaunchKernel", 10_000, 2),
                ("cudaDeviceSynchronize", 45_000, 0),
            ],
        ),
        ("CPU thread 101", [("aten::mul", 30_000, 0), ("cudaLaunchKernel", 32_000, 1)]),
        ("GPU 0 stream 7", [("gemm", 15_000, 0), ("mul", 40_000, 0)]),
    ]


def test_a_kernel_is_linked_to_its_launch() -> None:
    drawn = timeline(small())
    spans = [(lane.label, drawn.names[n]) for lane in drawn.lanes for n in lane.name.tolist()]
    (gpu,) = [lane for lane in drawn.lanes if lane.kind == "gpu"]
    assert [spans[at] for at in gpu.link.tolist()] == [
        ("CPU thread 100", "cudaLaunchKernel"),
        ("CPU thread 101", "cudaLaunchKernel"),
    ]


def test_a_stretch_holds_what_touches_it() -> None:
    drawn = timeline(small(), between=(28_000, 36_000))
    assert (drawn.start_ns, drawn.dur_ns) == (28_000, 8_000)
    names = {name for _, spans in named(drawn) for name, _, _ in spans}
    assert names == {"fwd", "aten::mul", "cudaLaunchKernel", "gemm"}


def test_a_budget_keeps_the_longest_and_counts_the_rest() -> None:
    """Of 9 spans the five longest: fwd 60, linear 20, gemm 20 with its launch, mm 12. A launch counts as long
    as its kernel."""
    drawn = timeline(small(), budget=5)
    assert (drawn.shown, drawn.total, drawn.left_out_ns) == (5, 9, 10_000)
    kept = {name for _, spans in named(drawn) for name, _, _ in spans}
    assert kept == {"fwd", "aten::linear", "gemm", "cudaLaunchKernel", "aten::mm"}


def test_a_budget_keeps_both_sides() -> None:
    """Every op is longer than any kernel: still half of what is drawn is device work."""
    trace = read(
        *(
            one
            for i in range(20)
            for one in (
                op("aten::mm", 10 * i, 9),
                launch(10 * i + 1, 1, i + 1),
                kernel("k", 10 * i + 3, 2, i + 1),
            )
        )
    )
    drawn = timeline(trace, budget=20)
    assert [len(lane) for lane in drawn.lanes if lane.kind == "gpu"] == [5]  # with five launches
    assert (drawn.shown, drawn.total, drawn.left_out_ns) == (20, 61, 9_000)


def test_long_names_use_the_budget_up() -> None:
    """Each name of 320 letters counts as ten spans more; the region, which is the whole trace, as itself."""
    trace = read(*(op(f"{i:0320}", 10 * i, 9) for i in range(20)))
    assert timeline(trace, budget=60).shown == 1 + 5
    assert timeline(trace, budget=221).shown == 1 + 20


def test_stream_2_stands_above_stream_10() -> None:
    drawn = timeline(read(*(kernel("k", 10 * i, 5, stream=s) for i, s in enumerate((10, 2, 7)))))
    assert [lane.label for lane in drawn.lanes if lane.kind == "gpu"] == [
        "GPU 0 stream 2",
        "GPU 0 stream 7",
        "GPU 0 stream 10",
    ]


class TestBreakdown:
    def test_kinds_and_idleness_add_up_to_the_wall(self) -> None:
        found = breakdown(forward(small()))
        assert found.wall_ns == 60_000
        assert sum(ns for _, ns in found.kinds) + found.idle_ns == 60_000
        assert found.idle_ns == 35_000

    def test_a_moment_counts_once(self) -> None:
        """Two streams: 10 us of one, 10 of the other, 5 of them together. The gemm began first."""
        trace = read(
            annotation("fwd", 0, 20),
            op("aten::mm", 1, 2),
            launch(1, 1, 1),
            op("aten::mul", 4, 2),
            launch(4, 1, 2),
            kernel("sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32_stage4", 5, 10, 1),
            kernel("void at::native::vectorized_elementwise_kernel<4, MulFunctor>", 10, 10, 2, stream=8),
        )
        assert breakdown(forward(trace)).kinds == (("gemm", 10_000), ("pointwise", 5_000))
