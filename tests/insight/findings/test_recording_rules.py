"""What is the recording's doing, and not the program's."""

from __future__ import annotations

import pytest

from handmade import GELU
from rung.trace import Trace
from seen import recorded, seen, the_one
from tracelib import Event, annotation, call, kernel, launch, op, read, read_bytes, span, step, text

LADDER = (
    "01_matmul_add_4096_bf16_warm_compile",
    "01_matmul_add_4096_bf16_warm_eager",
    "01_matmul_add_64_bf16_warm_eager",
    "03_mlp_decode_eager",
    "03_mlp_manual_cudagraph",
    "03_mlp_compile_recompile",
)
"""Warm recordings; in the last one the first call loads two functions, and later ones compile."""


def fwd(number: int, at: float, width: float, *more: Event, launched: float = 5) -> list[Event]:
    """A call of some width with one kernel in it."""
    start = at + launched
    return [annotation("fwd", at, width), launch(start, 1, number), kernel(GELU, start + 2, 5, number), *more]


def overhead(name: str, start: float, dur: float) -> Event:
    return span("overhead", name, start, dur, pid=-1, tid=0)


class TestColdStart:
    def test_milliseconds_of_setting_up(self) -> None:
        """195316.427 us, the last call 102.817. Five pieces are loaded, memory is asked for five times."""
        found = the_one("cold-start", recorded("01_matmul_add_64_bf16_cold_eager"))
        assert found.cost_ns == 195_316_427 - 102_817
        assert (found.step, found.region) == (0, "matmul_add")
        assert found.evidence["loading_modules_ns"] == 612_228 + 64_777 + 55_569 + 64_972 + 47_143
        assert found.evidence["allocating_ns"] == 337_083 + 6_911 + 181_900 + 89_224 + 48_149
        assert found.title.startswith("the first matmul_add takes 195 ms, a later one 103 µs: ")
        assert found.share == pytest.approx(1, abs=0.001)

    @pytest.mark.parametrize(
        ("name", "ms"), [("01_matmul_add_4096_bf16_cold_eager", 152.4), ("03_mlp_cold_compile", 4902.2)]
    )
    def test_other_cold_recordings(self, name: str, ms: float) -> None:
        assert the_one("cold-start", recorded(name)).cost_ns / 1e6 == pytest.approx(ms, abs=0.1)

    @pytest.mark.parametrize("name", LADDER)
    def test_no_warm_one(self, name: str) -> None:
        assert seen("cold-start", recorded(name)) == []

    def calls(self, *widths: float, setting_up: bool = True) -> Trace:
        found = [event for i, width in enumerate(widths) for event in fwd(i + 1, 10_000 * i, width)]
        return read(*found, *([call("cudaMalloc", 1, 3)] if setting_up else []))

    def test_five_times_as_wide_as_the_median_of_the_others(self) -> None:
        assert the_one("cold-start", self.calls(500, 90, 100, 300)).cost_ns == 400_000
        assert seen("cold-start", self.calls(499, 90, 100, 300)) == []

    def test_nothing_is_set_up(self) -> None:
        assert seen("cold-start", self.calls(5000, 100, 100, setting_up=False)) == []

    def test_a_long_time_before_the_first_launch_is_setting_up(self) -> None:
        slow = [*fwd(1, 0, 1000, launched=300), *fwd(2, 2000, 100), *fwd(3, 3000, 100)]
        found = the_one("cold-start", read(*slow))
        assert (
            found.title == "the first fwd takes 1.00 ms, a later one 100 µs: 300 µs before the first launch"
        )

    def test_a_call_that_is_alone_tells_by_what_it_sets_up(self) -> None:
        found = the_one("cold-start", read(*fwd(1, 0, 100, call("cudaFree", 10, 20))))
        assert (found.cost_ns, found.share) == (20_000, 0.2)
        assert found.title == "the only fwd takes 100 µs and sets things up: 20.0 µs allocating"
        assert seen("cold-start", read(*fwd(1, 0, 100, call("cudaFree", 10, 9)))) == []


class TestProfilerArtifact:
    def test_the_first_of_three_steps(self) -> None:
        """134.492 us, then 52.509 and 44.521."""
        found = the_one("profiler-artifact", recorded("01_matmul_add_64_bf16_warm_eager"))
        assert (found.step, found.cost_ns, found.severity) == (2, 0, "note")
        assert found.evidence == {"first_ns": 134_492, "later_ns": [52_509, 44_521]}
        assert found.title.startswith("the first recorded matmul_add is 3.0x as wide on the CPU")

    def test_a_request_for_a_buffer(self) -> None:
        found = the_one("profiler-artifact", recorded("01_matmul_add_64_bf16_cold_eager"))
        assert found.evidence["spent_ns"] == 3_356_005
        assert found.title == "the profiler asks for a buffer, 3.36 ms: no cost of the program"

    @pytest.mark.parametrize(
        "widths", [(129, 100, 100), (500, 100, 100), (100, 200, 100), (200, 100)], ids=str
    )
    def test_steady_cold_or_few(self, widths: tuple[float, ...]) -> None:
        calls = [event for i, width in enumerate(widths) for event in fwd(i + 1, 1000 * i, width)]
        assert seen("profiler-artifact", read(*calls)) == []

    def test_what_sets_things_up_is_not_the_profiler(self) -> None:
        calls = [event for i, width in enumerate((300, 100, 100)) for event in fwd(i + 1, 1000 * i, width)]
        assert len(seen("profiler-artifact", read(*calls))) == 1
        loading = overhead("Lazy Function Loading", 10, 20)
        assert seen("profiler-artifact", read(*calls, loading)) == []


class TestKernelJitter:
    def steps(self, *widths: float, name: str = GELU) -> Trace:
        """A kernel of each width, each in a call of 100 us."""
        calls: list[Event] = []
        for i, width in enumerate(widths):
            at = 1000 * i
            work = [launch(at + 5, 1, i + 1), kernel(name, at + 7, width, i + 1)]
            calls += [annotation("fwd", at, 100), op("aten::gelu", at + 4, 4), *work]
        return read(*calls)

    def test_median_and_spread(self) -> None:
        found = the_one("kernel-jitter", self.steps(50, 58, 52))
        assert (found.cost_ns, found.share) == (2_000, 0.02)
        assert found.title == (
            "pointwise gelu, 8 wide takes 50.0 µs to 58.0 µs for the same work, median 52.0 µs"
        )

    @pytest.mark.parametrize(
        "widths",
        [
            pytest.param((50, 52, 51), id="a tenth or less"),
            pytest.param((4, 6, 5), id="2 us, as whole microseconds have it"),
            pytest.param((50, 80), id="two steps"),
        ],
    )
    def test_steady(self, widths: tuple[float, ...]) -> None:
        assert seen("kernel-jitter", self.steps(*widths)) == []

    def test_a_collective_waits_for_other_ranks(self) -> None:
        name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
        assert seen("kernel-jitter", self.steps(50, 80, 52, name=name)) == []

    def test_a_product_on_a_warm_device_keeps_its_time(self) -> None:
        """168.991 to 176.159 us are 4 %."""
        assert seen("kernel-jitter", recorded("01_matmul_add_4096_bf16_warm_eager")) == []


class TestIncompleteTrace:
    def test_kernels_from_before_the_window(self) -> None:
        """Three kernels of the forward before, and a memset."""
        found = the_one("incomplete-trace", recorded("03_mlp_fp32_eager"))
        assert found.evidence["unlinked"] == 4
        assert found.title.startswith("4 pieces of GPU work without a launch: ")
        assert found.severity == "note"
        assert the_one("incomplete-trace", recorded("08_h2d_copy_mlp")).evidence["unlinked"] == 3

    def test_a_launch_whose_kernel_was_lost(self) -> None:
        lost = read(step(1, 0, 50), launch(5, 1, 1), launch(10, 1, 2), kernel(GELU, 20, 5, 2))
        found = the_one("incomplete-trace", lost)
        assert found.evidence["launch-without-kernel"] == 1
        assert found.title == "1 launch without GPU work: 1 in step 1"

    def test_a_file_cut_short(self) -> None:
        whole = text(*fwd(1, 0, 50), *fwd(2, 100, 50))
        found = the_one("incomplete-trace", read_bytes(whole[: len(whole) // 2]))
        assert found.evidence["truncated"] == 1
        assert "first at byte" in found.title

    def test_launches_without_any_gpu_work(self) -> None:
        found = the_one("incomplete-trace", read(step(1, 0, 50), launch(5, 1, 1)))
        assert found.title == "1 launches, but no GPU work in this trace"

    def test_a_whole_one(self) -> None:
        assert seen("incomplete-trace", recorded("03_mlp_eager")) == []
