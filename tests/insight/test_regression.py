"""What makes one recording slower than another."""

from __future__ import annotations

from typing import Any

import pytest

import rung
from handmade import ADD, GELU, MUL, TILE_A, TILE_B, events, ran, tensors
from recordings import h200
from rung.insight.regression import Regression
from rung.trace import Trace
from tracelib import annotation, op, read

SQUARE = [64, 64]
MM = ran(TILE_A, "aten::mm", SQUARE, SQUARE)


def steps(*kernels: Any, times: int = 3, late: float = 0) -> Trace:
    """The same forward several times; each kernel takes `late` us longer."""
    made = [(name, by, args, dur + late) for name, by, args, dur in kernels]
    length = 100 * (len(made) + 1)
    return read(*(e for i in range(times) for e in events(*made, at=length * i, first=1 + 100 * i)))


def widths(*durations: float) -> Trace:
    """One product a forward, as long as that."""
    calls = [
        events(ran(TILE_A, "aten::mm", SQUARE, SQUARE, dur=dur), at=100 * i, first=1 + i)
        for i, dur in enumerate(durations)
    ]
    return read(*(event for call in calls for event in call))


def why(a: Trace, b: Trace) -> Regression:
    found = rung.why(a, b)
    assert isinstance(found, Regression)
    return found


def recorded(a: str, b: str) -> Regression:
    return why(rung.read(h200(a)), rung.read(h200(b)))


def changes(found: Regression) -> list[tuple[str, str, int]]:
    return [(one.side, one.what, one.delta_ns) for one in found.culprits]


class TestRecordings:
    def test_compiled_it_waits_for_the_cpu(self) -> None:
        """241.088 us -> 437.125 us, the GPU's part 232.576 -> 207.327."""
        found = recorded("03_mlp_eager", "03_mlp_compile")
        assert found.wall.delta_ns == pytest.approx(437_125 - 241_088, abs=2)
        assert found.gpu.delta_ns == pytest.approx(207_327 - 232_576, abs=2)
        assert found.waiting_delta_ns == found.wall.delta_ns - found.gpu.delta_ns
        assert found.wall.sure
        assert found.sentence.startswith("mlp_fwd takes 196 µs longer, 241 µs -> 437 µs (+81 %), more than")
        assert found.split == "The GPU works 25.2 µs less and waits 221 µs longer. 6 launches instead of 7."
        worst = found.culprits[0]
        assert (worst.side, worst.what, worst.after) == ("CPU", "new", ("Torch-Compiled Region",))
        (fused,) = (one for one in found.culprits if one.what == "fused")
        assert fused.delta_ns == 37_664 - (29_856 + 36_031)
        assert {"overhead-bound", "compile-pre-ops"} <= {one.id for one in found.appeared}
        assert "fusible-chain" in {one.id for one in found.vanished}

    def test_in_fp32_each_product_is_another_kernel(self) -> None:
        found = recorded("03_mlp_eager", "03_mlp_fp32_eager")
        first, second = found.culprits[:2]
        assert (first.side, first.what) == ("GPU", "another kernel")
        assert first.title.startswith(
            "aten::mm x2: GEMM 128x128x8, 3 stages, tn in fp32 instead of GEMM 256x"
        )
        assert first.sure
        assert second.title.startswith("aten::mm: ")
        assert "precision-fallback" in {one.id for one in found.appeared}
        assert "The GPU works 2.27 ms longer" in found.split

    def test_a_broken_graph_is_found_in_b_alone(self) -> None:
        found = recorded("03_mlp_compile", "03_mlp_compile_graph_break")
        assert "graph-break" in {one.id for one in found.appeared}
        region = found.culprits[0]
        assert (region.side, region.what, region.before) == ("CPU", "slower", ("Torch-Compiled Region",))


class TestKernels:
    def test_another_tile(self) -> None:
        """The same op for the same shapes: 5 us -> 9 us in a forward of 20 us."""
        found = why(steps(MM), steps(ran(TILE_B, "aten::mm", SQUARE, SQUARE, dur=9)))
        assert changes(found) == [("GPU", "another kernel", 4_000)]
        (one,) = found.culprits
        assert (one.before, one.after, one.sure) == ((TILE_A,), (TILE_B,), True)
        assert one.title == (
            "aten::mm: GEMM 192x128x64, 5 stages, TNT instead of GEMM 256x128x64, 4 stages, TNT"
        )

    def test_what_came_and_what_went(self) -> None:
        found = why(
            steps(MM, ran(GELU, "aten::gelu", SQUARE)),
            steps(MM, ran(ADD, "aten::add", SQUARE, SQUARE, dur=7)),
        )
        gpu = [one for one in changes(found) if one[0] == "GPU"]
        assert gpu == [("GPU", "new", 7_000), ("GPU", "gone", -5_000)]

    def test_the_same_kernel_takes_longer(self) -> None:
        found = why(
            steps(MM, ran(MUL, "aten::mul", SQUARE)), steps(MM, ran(MUL, "aten::mul", SQUARE), late=2)
        )
        assert changes(found) == [("GPU", "slower", 2_000)] * 2
        assert found.culprits[0].title.endswith(" is slower: 5.00 µs -> 7.00 µs")

    def test_one_step_tells_no_spread(self) -> None:
        found = why(steps(MM, times=1), steps(MM, times=1, late=2))
        assert found.wall.sure is None
        assert found.culprits[0].sure is None
        assert found.sentence.endswith("but one step tells no spread.")

    def test_within_the_spread(self) -> None:
        """5, 5, 9 against 7, 5, 9: medians of 5 and 7, and 5 occurs in both."""
        (found,) = why(widths(5, 5, 9), widths(7, 5, 9)).culprits
        assert (found.delta_ns, found.sure) == (2_000, False)

    def test_against_itself_nothing_has_changed(self) -> None:
        trace = rung.read(h200("03_mlp_eager"))
        found = why(trace, trace)
        assert (found.culprits, found.appeared, found.vanished) == ((), (), ())
        assert found.sentence.startswith("mlp_fwd takes as long, 241 µs -> 241 µs (±0 %), within what")


class TestCpu:
    def call(self, width: float, *ops: tuple[str, float, float]) -> Trace:
        gpu = events(MM)[1:]
        return read(annotation("fwd", 0, width), *gpu, *(op(*one) for one in ops))

    def test_an_op_that_takes_longer_and_time_outside_of_ops(self) -> None:
        """`aten::mm` takes 8 of both; `aten::to` 10 and then 30; outside of ops are 82 and then 162."""
        found = why(self.call(100, ("aten::to", 50, 10)), self.call(200, ("aten::to", 50, 30)))
        assert changes(found) == [("CPU", "slower", 80_000), ("CPU", "slower", 20_000)]
        assert [one.title for one in found.culprits] == [
            "outside of ops: 82.0 µs -> 162 µs",
            "aten::to: 10.0 µs -> 30.0 µs",
        ]

    def test_on_a_cpu_ops_are_the_work(self) -> None:
        traces = [read(annotation("fwd", 0, 50), op("aten::mm", 1, width)) for width in (20, 30)]
        found = why(*traces)
        assert changes(found) == [("CPU", "slower", 10_000)]
        assert found.split == ""

    def test_what_a_cpu_fused_is_no_work_of_a_gpu(self) -> None:
        """20 and 10 us, in one op of 12."""
        fused = "graph_0_cpp_fused_gelu_mul_0"
        gelu, mul = tensors(SQUARE), tensors(SQUARE, SQUARE)
        before = read(
            annotation("fwd", 0, 50), op("aten::gelu", 1, 20, **gelu), op("aten::mul", 30, 10, **mul)
        )
        found = why(before, read(annotation("fwd", 0, 50), op(fused, 1, 12)))
        assert changes(found) == [("CPU", "fused", -18_000)]


def test_other_work_is_compared_with_caution() -> None:
    (said,) = why(steps(MM), steps(ran(TILE_A, "aten::mm", [64, 32], [32, 16]))).cautions
    assert said == (
        "A and B do different work: matrix products of [64, 64] x [64, 64] against [64, 32] x [32, 16]"
    )


def test_what_was_recorded_elsewhere_is_compared_with_caution() -> None:
    other = read(*events(MM), device={"id": 0, "name": "Other GPU"})
    assert why(read(*events(MM)), other).cautions == ("not recorded alike: device: Test GPU, then Other GPU",)


@pytest.mark.parametrize("side", [0, 1])
def test_the_region_has_to_be_in_both(side: int) -> None:
    pair = [steps(MM), read(annotation("other", 0, 10))]
    with pytest.raises(rung.RungError, match="no region"):
        rung.why(pair[side], pair[1 - side], region="fwd")
