"""Who waits for whom: the GPU in gaps, the CPU in calls that synchronize, and for the price of a call."""

from __future__ import annotations

import pytest

from handmade import ADD, GELU, MUL, TILE_A
from recordings import TRACES
from rung.trace import Trace
from seen import recorded, seen, the_one
from tracelib import Event, annotation, call, kernel, launch, op, read, step, work


def put(
    number: int, launched: float, started: float, dur: float, name: str = ADD, by: str = "add"
) -> list[Event]:
    """A kernel, its launch of 1 us, and the op around that."""
    around = op(f"aten::{by}", launched - 1, 4)
    return [around, launch(launched, 1, number), kernel(name, started, dur, number)]


class TestGpuGap:
    def test_between_two_graphs_of_a_broken_call(self) -> None:
        """From the end of the first Triton kernel to the start of the next mm: 214.7, 184.9 and 172.1 us."""
        found = the_one("gpu-gap", recorded("03_mlp_compile_graph_break"))
        assert found.cost_ns == 184_927
        assert found.evidence["gaps"] == 1
        assert "before aten::mm: the CPU was in Torch-Compiled Region: 0/0" in found.title

    def allocating(self, at: float = 0, first: int = 1) -> list[Event]:
        """Busy 30 of 100 us until 40, then 20 us in `cudaMalloc`, busy 40 until 100."""
        return [
            annotation("fwd", at, 100),
            *put(first, at + 5, at + 10, 30),
            op("aten::empty", at + 35, 22),
            call("cudaMalloc", at + 36, 20),
            *put(first + 1, at + 58, at + 60, 40, TILE_A, "mm"),
        ]

    def test_the_allocator(self) -> None:
        found = the_one("gpu-gap", read(*self.allocating()))
        assert (found.cost_ns, found.share) == (20_000, 0.2)
        assert found.title.endswith("before aten::mm: the CPU was in cudaMalloc for 16.0 µs of it")
        assert found.advice.startswith("Keep the allocator")

    def test_of_several_calls_the_median_one(self) -> None:
        """The second has no gap, the third one of 60 us."""
        short = [annotation("fwd", 200, 100), *put(11, 205, 210, 30), *put(12, 208, 240, 40, TILE_A, "mm")]
        long = [annotation("fwd", 400, 200), *put(21, 405, 410, 30), *put(22, 495, 500, 40, TILE_A, "mm")]
        assert the_one("gpu-gap", read(*self.allocating(), *short, *long)).cost_ns == 20_000

    def test_a_kernel_that_was_launched_long_ago_waits_for_something_else(self) -> None:
        waits = [annotation("fwd", 0, 100), *put(1, 5, 10, 30), *put(2, 15, 60, 40, GELU, "gelu")]
        found = the_one("gpu-gap", read(*waits))
        assert found.title.endswith(
            "before aten::gelu: its launch was there already, it waited for other work"
        )

    def test_what_others_do_meanwhile_is_no_gap(self) -> None:
        waits = [annotation("fwd", 0, 100), *put(1, 5, 10, 30), *put(2, 15, 60, 40, GELU, "gelu")]
        other = [annotation("other", -50, 20), *put(3, -40, 40, 20, MUL, "mul")]
        assert seen("gpu-gap", read(*waits, *other)) == []

    def test_where_the_cpu_is_late_everywhere_one_gap_has_to_stand_out(self) -> None:
        """Ten kernels of 1 us, 10 us apart: overhead-bound says so. One more after 60 us stands out."""
        many = [event for i in range(10) for event in put(i + 1, 10 * i + 2, 10 * i + 5, 1)]
        assert seen("gpu-gap", read(annotation("fwd", 0, 100), *many)) == []
        found = the_one("gpu-gap", read(annotation("fwd", 0, 200), *many, *put(11, 154, 156, 1)))
        assert (found.cost_ns, found.evidence["gaps"]) == (60_000, 1)
        assert found.title.endswith(": the CPU was mostly outside any op meanwhile")

    def test_a_trace_of_the_gpu_alone_does_not_tell_why(self) -> None:
        found = the_one("gpu-gap", read(step(1, 0, 100), kernel("a", 0, 40), kernel("b", 60, 40)))
        assert (
            found.title == "the GPU idles 20.0 µs between kernels, before b: the trace does not show the CPU"
        )


class TestForcedSync:
    def item(self, *more: Event) -> Trace:
        """The GPU works until 50; the CPU waits for it from 20 to 52; the next kernel starts at 70."""
        return read(
            annotation("fwd", 0, 100),
            *put(1, 5, 10, 40),
            op("aten::item", 18, 35),
            op("aten::_local_scalar_dense", 19, 34),
            call("cudaStreamSynchronize", 20, 32),
            *put(2, 62, 70, 20, GELU, "gelu"),
            *more,
        )

    def test_item(self) -> None:
        found = the_one("forced-sync", self.item())
        assert (found.evidence["waits"], found.evidence["wait_ns"]) == (1, 32_000)
        assert (found.cost_ns, found.share) == (20_000, 0.2)
        assert found.evidence["by"] == {"cudaStreamSynchronize of aten::item": 1}
        assert found.title == (
            "the CPU waits for the GPU 1 time a step, 32.0 µs in all, mostly in cudaStreamSynchronize of "
            "aten::item; the GPU then idles 20.0 µs until its next work"
        )

    def copied(self, returns: float) -> Trace:
        """A copy to the host from 50 to 54, by a call that begins at 20."""
        return read(
            annotation("fwd", 0, 100),
            *put(1, 5, 10, 40),
            op("aten::copy_", 18, 40),
            call("cudaMemcpyAsync", 20, returns - 20, correlation=9),
            work("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 50, 4, 9),
            *put(2, 62, 70, 20, GELU, "gelu"),
        )

    def test_a_copy_to_the_host_that_is_waited_for(self) -> None:
        """The call returns when the copy is done; the GPU then idles until 70."""
        found = the_one("forced-sync", self.copied(returns=54))
        assert found.evidence["by"] == {"cudaMemcpyAsync of aten::copy_": 1}
        assert (found.evidence["wait_ns"], found.cost_ns) == (34_000, 16_000)

    def test_one_that_runs_by_itself(self) -> None:
        assert seen("forced-sync", self.copied(returns=53)) == []

    def test_a_call_inside_another_is_waited_for_once(self) -> None:
        found = the_one("forced-sync", self.item(call("cuStreamSynchronize", 22, 28)))
        assert (found.evidence["waits"], found.evidence["wait_ns"]) == (2, 32_000)

    def test_the_profiler_waits_where_its_window_begins_and_ends(self) -> None:
        edges = [call("cudaDeviceSynchronize", 1, 2), call("cudaDeviceSynchronize", 80, 20)]
        work = [*put(1, 5, 10, 40), *put(2, 62, 70, 20, GELU, "gelu")]
        assert seen("forced-sync", read(step(1, 0, 100), edges[0], *work, edges[1])) == []

    def test_a_wait_of_nothing_is_none(self) -> None:
        """Less than a hundredth of the step."""
        quick = [*put(1, 5, 10, 4), call("cudaEventSynchronize", 20, 0.9), *put(2, 62, 70, 20)]
        assert seen("forced-sync", read(annotation("fwd", 0, 100), *quick)) == []

    @pytest.mark.parametrize("name", ["03_mlp_eager", "06_llama_eager", "07_mlp_train_eager"])
    def test_not_in_warm_recordings(self, name: str) -> None:
        assert seen("forced-sync", recorded(name)) == []

    def test_in_a_rank_that_waits_for_an_event(self) -> None:
        """1151.566 us of one of its eight waits, and 19.558 us of the others."""
        path = TRACES / "h200_ranks/mlp_ddp_straggler_rank1.json.gz"
        if not path.exists():
            pytest.skip(f"{path} is not there: the shared traces are not beside this checkout")
        found = the_one("forced-sync", recorded(path))
        assert (found.evidence["waits"], found.evidence["wait_ns"]) == (8, 1_151_566 + 19_558)


class TestSyncCoversLittle:
    def test_a_flush_where_the_window_ends(self) -> None:
        found = the_one("sync-covers-little", recorded("03_mlp_decode_eager"))
        assert found.title == (
            "cudaDeviceSynchronize takes 36.1 µs while the GPU works 0 ns of it: the profiler's own, "
            "at the end of its window"
        )
        assert (found.cost_ns, found.severity, found.evidence["at_end"]) == (0, "note", True)

    def test_it_covers_the_work_that_is_left(self) -> None:
        """310.4 us, of which the GPU works 299.8."""
        assert seen("sync-covers-little", recorded("01_matmul_add_4096_bf16_warm_eager")) == []

    def test_between_steps(self) -> None:
        """40 of 150 us."""
        wait = [annotation("fwd", 0, 50), *put(1, 5, 10, 80), call("cudaDeviceSynchronize", 50, 150)]
        found = the_one("sync-covers-little", read(*wait, annotation("fwd", 300, 50), *put(2, 305, 310, 20)))
        assert (found.evidence["gpu_busy_ns"], found.evidence["at_end"]) == (40_000, False)
        assert found.title.endswith("the GPU works 40.0 µs of it: outside all regions")

    def test_a_short_one_is_not_worth_a_word(self) -> None:
        wait = [annotation("fwd", 0, 50), *put(1, 5, 10, 20), call("cudaDeviceSynchronize", 60, 19)]
        assert seen("sync-covers-little", read(*wait)) == []


class TestManySmallCalls:
    def calls(self, count: int, each: float = 10, on_gpu: float = 1) -> Trace:
        made = [annotation("fwd", 0, 20 * count)]
        for i in range(count):
            work = [launch(20 * i + 2, 1, i + 1), kernel(MUL, 20 * i + 4, on_gpu, i + 1)]
            made += [op("aten::mul", 20 * i, each), *work]
        return read(*made)

    def test_what_a_call_costs_beyond_its_work(self) -> None:
        found = the_one("many-small-calls", self.calls(30))
        assert (found.cost_ns, found.share) == (30 * 9_000, 0.45)
        assert found.title == (
            "aten::mul is called 30 times, 10.0 µs of CPU time each, for 1.00 µs on the GPU: 300 µs in all"
        )

    def test_on_a_gpu_that_is_busy_all_the_time_it_costs_nothing(self) -> None:
        assert seen("many-small-calls", self.calls(30, on_gpu=20)) == []

    @pytest.mark.parametrize(("count", "each"), [(19, 10), (30, 1.5)])
    def test_few_calls_or_cheap_ones(self, count: int, each: float) -> None:
        assert seen("many-small-calls", self.calls(count, each)) == []

    def test_of_ops_that_began_before_the_region_nothing_is_told(self) -> None:
        one = [op("aten::mul", 0, 500), annotation("fwd", 10, 400)]
        work = [e for i in range(30) for e in (launch(12 + i, 0.5, i + 1), kernel(MUL, 14 + i, 0.1, i + 1))]
        assert seen("many-small-calls", read(*one, *work)) == []

    def test_in_a_model(self) -> None:
        found = the_one("many-small-calls", recorded("06_llama_eager"))
        assert (found.evidence["op"], found.evidence["calls"]) == ("aten::mm", 57)
        assert found.cost_ns == found.evidence["cpu_ns"] - found.evidence["gpu_ns"]

    def test_on_a_cpu(self) -> None:
        """25 calls of 4 us are all that happens in 200 us."""
        found = the_one(
            "many-small-calls",
            read(annotation("fwd", 0, 200), *(op("aten::add_", 8 * i, 4) for i in range(25))),
        )
        assert found.title == "aten::add_ is called 25 times, 4.00 µs of CPU time each: 100 µs in all"
        assert (found.cost_ns, found.share) == (100_000, 0.5)
