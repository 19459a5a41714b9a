"""What limits a region: its launches, its arithmetic, its memory, one op."""

from __future__ import annotations

from typing import Any

import pytest

from handmade import ADD, GELU, MUL, TILE_A, events, ran, tensors
from rung.insight.findings import examine
from rung.trace import Trace
from seen import recorded, seen, the_one
from tracelib import annotation, kernel, launch, op, read

BIG = [8192, 8192]
H200 = {"id": 0, "name": "NVIDIA H200"}


class TestOverheadBound:
    def test_two_small_kernels(self) -> None:
        """The median call is open for 52.509 us; 1.920 + 0.865 us of GPU work in the median one."""
        found = the_one("overhead-bound", recorded("01_matmul_add_64_bf16_warm_eager"))
        assert (found.cost_ns, found.severity) == (52_509 - 2_785, "high")
        assert found.share == pytest.approx(1 - 2_785 / 52_509)
        assert found.share > 0.9
        assert found.evidence["launch_spacing_ns"] == 445_363 - 430_688
        assert found.evidence["speed_up"] == pytest.approx(52_509 / 2_785)
        assert found.title == (
            "the GPU idles 95 % of the time, 49.7 µs of 52.5 µs: 2 launches, 14.7 µs apart, "
            "and the median kernel takes 865 ns"
        )
        assert found.advice.endswith("Its GPU work alone takes 2.79 µs, 18.9x less.")

    def test_a_model_is_it_first_of_all(self) -> None:
        case = examine(recorded("06_llama_eager"))
        assert case.bounds[0].limit == "overhead-bound"
        assert the_one("overhead-bound", case.trace).cost_ns > 0.7 * case.forwards[0].wall_ns.median

    @pytest.mark.parametrize("name", ["01_matmul_add_4096_bf16_warm_eager", "03_mlp_eager"])
    def test_not_where_the_gpu_is_busy(self, name: str) -> None:
        assert seen("overhead-bound", recorded(name)) == []

    def test_a_gpu_that_works_for_others_does_not_idle(self) -> None:
        """`a` has 10 of 100 us to itself; 50, or 85, of the others are work that was launched in `b`."""
        mine = [annotation("a", 0, 100), launch(5, 1, 1), kernel("one", 10, 10, 1)]
        others = [annotation("b", 200, 100), launch(205, 1, 3), kernel("three", 210, 90, 3)]
        before = [annotation("b", -200, 100), launch(-195, 1, 2)]
        alone = the_one("overhead-bound", read(*mine))
        assert (alone.cost_ns, alone.evidence["busy_for_others_ns"]) == (90_000, 0)
        shared = the_one("overhead-bound", read(*before, kernel("two", 30, 50, 2), *mine, *others))
        assert (shared.cost_ns, shared.evidence["busy_for_others_ns"]) == (40_000, 50_000)
        assert seen("overhead-bound", read(*before, kernel("two", 15, 85, 2), *mine, *others)) == []

    def test_time_outside_of_ops_is_not_blamed_on_launches(self) -> None:
        """A step of 100 us, 10 of them in an op."""
        found = the_one(
            "overhead-bound",
            read(annotation("fwd", 0, 100), op("aten::mm", 10, 10), launch(12, 1, 1), kernel("k", 20, 5, 1)),
        )
        assert found.title.endswith("; the CPU is in ops for 10.0 µs only")
        assert found.advice.startswith("Look at what Python does")

    def test_one_gap_is_most_of_it(self) -> None:
        """85 us idle, 70 of them before the second kernel."""
        work = [op("aten::mm", 1, 95), launch(5, 1, 1), kernel("k", 10, 5, 1), launch(84, 1, 2)]
        found = the_one("overhead-bound", read(annotation("fwd", 0, 100), *work, kernel("k", 85, 10, 2)))
        assert found.title.endswith("; 70.0 µs of it is one gap")
        assert "gpu-gap" in found.advice

    def test_the_commonest_call_may_be_one_without_work(self) -> None:
        """Three calls, each another sequence: 5, 5 and 0 us of work; the last is what is listed."""
        made = [annotation("fwd", 200 * i, 100) for i in range(3)]
        work = [launch(1, 1, 1), kernel("a", 5, 5, 1), launch(201, 1, 2), kernel("b", 205, 5, 2)]
        found = the_one("overhead-bound", read(*made, *work))
        assert (found.cost_ns, found.evidence["kernel_ns"]) == (95_000, None)


class TestComputeBound:
    def test_a_large_product(self) -> None:
        """2 x 4096^3 FLOP in 169.695 us, of 192.863 us that the GPU works."""
        found = the_one("compute-bound", recorded("01_matmul_add_4096_bf16_warm_eager"))
        assert found.cost_ns == 169_695
        assert found.evidence["flop"] == 2 * 4096**3
        assert found.evidence["flop_per_s"] == pytest.approx(2 * 4096**3 / 169.695e-6, rel=0.02)
        assert "at 810 TFLOP/s" in found.title

    def test_a_product_in_fp32_is_not_one_of_bytes(self) -> None:
        found = the_one("compute-bound", recorded("03_mlp_fp32_eager"))
        assert found.evidence["dtypes"] == ["fp32"]
        assert "TF32 or bf16" in found.advice

    def test_without_shapes_nobody_knows(self) -> None:
        """Such products may have one row, and be bound by memory."""
        assert seen("compute-bound", read(*events(ran(TILE_A, "aten::mm", dur=19)))) == []

    @pytest.mark.parametrize("name", ["01_matmul_add_64_bf16_warm_eager", "08_h2d_copy_mlp"])
    def test_not_where_launches_or_copies_are_the_limit(self, name: str) -> None:
        assert seen("compute-bound", recorded(name)) == []


class TestMemoryBound:
    def test_bytes_and_their_rate(self) -> None:
        """gelu of [8192, 8192] fp32: 2 x 268 MB in 268.435456 us are 2 TB/s, of an H200's measured 4.27."""
        size = 8192 * 8192 * 4
        took = size / 1e6
        wide = [annotation("fwd", 0, took), op("aten::gelu", 1, 8, **tensors(BIG)), launch(2, 1, 1)]
        found = the_one("memory-bound", read(*wide, kernel(GELU, 4, took, 1), device=H200))
        assert found.cost_ns == round(took * 1000)
        assert found.evidence["bytes"] == 2 * size
        assert found.evidence["bytes_per_s"] == pytest.approx(2e12, rel=1e-5)
        assert found.evidence["share_of_bandwidth"] == pytest.approx(2e12 / 4.267328661723747e12, rel=1e-5)
        assert found.title.endswith(": 537 MB at 2.00 TB/s, 47 % of the memory's bandwidth")

    def test_without_shapes_there_are_no_bytes(self) -> None:
        found = the_one("memory-bound", read(*events(ran(GELU, "aten::gelu", dur=19))))
        assert found.title.endswith("; the trace has no shapes to count them by")

    def test_not_where_products_rule(self) -> None:
        assert seen("memory-bound", recorded("03_mlp_eager")) == []


class TestHotspot:
    def test_three_products_of_seven_pieces(self) -> None:
        """56.575 + 56.448 + 51.871 us are `aten::mm`'s."""
        found = the_one("hotspot", recorded("03_mlp_eager"))
        assert found.evidence["op"] == "aten::mm"
        assert found.evidence["times"] == 3
        assert found.cost_ns == 56_575 + 56_448 + 51_871
        assert found.title.startswith("aten::mm takes 71 % of the GPU's time, 165 µs of 232 µs, 3 times")

    def test_by_kernel_where_no_operator_is_around(self) -> None:
        """In a replayed graph: 15 of 19 us."""
        work = [kernel(TILE_A, 2, 15, 1), kernel(ADD, 17, 4, 1)]
        graph = [launch(1, 1, 1), *work]
        found = the_one(
            "hotspot", read(annotation("fwd", 0, 21), op("Torch-Compiled Region: 0/0", 0, 5), *graph)
        )
        assert (found.evidence["op"], found.evidence["kernels"]) == ("Torch-Compiled Region: 0/0", [TILE_A])
        assert found.title.startswith("GEMM 256x128x64, 4 stages, TNT takes 79 % of the GPU's time")

    @pytest.mark.parametrize(
        "kernels",
        [
            pytest.param([ran(TILE_A, "aten::mm", BIG, BIG, dur=9)], id="the only one"),
            pytest.param([ran(g, f"aten::{g}", dur=9) for g in ("a", "b", "c")], id="a third each"),
            pytest.param([ran(GELU, "aten::gelu", dur=1), ran(MUL, "aten::mul", dur=0.5)], id="1 of 30 us"),
        ],
    )
    def test_none(self, kernels: list[Any]) -> None:
        assert seen("hotspot", read(*events(*kernels))) == []

    def test_where_the_gpu_mostly_waits_launches_come_first(self) -> None:
        found = the_one("hotspot", read(*events(ran(GELU, "aten::gelu"), ran(MUL, "aten::mul", dur=2))))
        assert found.advice.startswith("Launches come first here")

    def test_ops_of_a_cpu(self) -> None:
        found = the_one("hotspot", on_a_cpu())
        assert found.title == "aten::mm takes 75 % of the ops' time, 30.0 µs of 40.0 µs"


def on_a_cpu() -> Trace:
    return read(annotation("fwd", 0, 50), op("aten::mm", 0, 30), op("aten::gelu", 30, 10))


@pytest.mark.parametrize("rule", ["overhead-bound", "compute-bound", "memory-bound", "gpu-gap"])
def test_a_cpu_has_no_such_limit(rule: str) -> None:
    assert seen(rule, on_a_cpu()) == []
