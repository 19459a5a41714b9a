"""Collectives that nothing covers, and the rank that all others wait for."""

from __future__ import annotations

import numpy as np
import pytest

import rung
from handmade import GELU
from recordings import TRACES
from rung.insight.findings.meetings import meetings
from rung.trace import Trace
from seen import seen, the_one
from tracelib import Event, annotation, kernel, launch, read, step

REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def ranks(name: str) -> list[Trace]:
    paths = [TRACES / "h200_ranks" / f"{name}_rank{rank}.json.gz" for rank in (0, 1)]
    if not all(path.exists() for path in paths):
        pytest.skip("the shared traces are not beside this checkout")
    return [rung.read(path) for path in paths]


class TestCommExposed:
    def step(self, reduce_at: float, reduce_for: float) -> Trace:
        """A kernel from 20 to 40 us, and a collective on a stream of its own."""
        calls = [launch(1, 1, 1), launch(3, 1, 2)]
        work = [kernel(GELU, 20, 20, 1), kernel(REDUCE, reduce_at, reduce_for, 2, stream=9)]
        return read(annotation("fwd", 0, 100), *calls, *work)

    def test_the_part_that_nothing_covers(self) -> None:
        """30 to 60 us: 10 us behind the kernel, 20 us exposed."""
        found = the_one("comm-exposed", self.step(30, 30))
        assert (found.cost_ns, found.share) == (20_000, 0.2)
        assert found.title == "1 AllReduce takes 30.0 µs; for 67 % of it, 20.0 µs, nothing computes"

    def test_not_behind_compute_and_not_without_collectives(self) -> None:
        assert seen("comm-exposed", self.step(22, 10)) == []
        assert (
            seen("comm-exposed", read(annotation("fwd", 0, 50), launch(1, 1, 1), kernel(GELU, 9, 5, 1))) == []
        )

    def test_ddp_exposes_most_of_its_six(self) -> None:
        """The six of rank 0's second step: 49.440 + 143.327 + 139.840 + 149.440 + 146.016 + 46.048 us."""
        found = the_one("comm-exposed", ranks("mlp_ddp_straggler")[0])
        assert found.evidence["collective_ns"] == 674_111
        assert found.evidence["collectives"] == {"AllReduce": 6}
        assert 0.9 < found.evidence["exposed_share"] <= 1
        assert found.title.startswith("6 AllReduce on rank 0 take 674 µs; for 93 % of it")


class TestStraggler:
    def rank(
        self, number: int, starts: list[float], ends: list[float], *, ahead: float = 0, busy: float = 0
    ) -> Trace:
        """Collectives in one step, each launched right before it starts (or `busy` us before)."""
        made: list[Event] = [step(1, 0, 1000), annotation("train", 1, 990)]
        for i, (start, end) in enumerate(zip(starts, ends, strict=True), start=1):
            made += [launch(start - 2 - busy, 1, i), kernel(REDUCE, start, end - start, i, stream=9)]
        moved = [event | {"ts": event["ts"] + ahead} for event in made]
        return read(*moved, distributedInfo={"rank": number})

    ENDS = [200.0, 400.0, 600.0]  # noqa: RUF012

    def test_how_late_and_who(self) -> None:
        """Rank 1 starts 60, 80 and 70 us after rank 0: 70 in the median, 210 in all."""
        a = self.rank(0, [100, 300, 500], self.ENDS)
        b = self.rank(1, [160, 380, 570], self.ENDS)
        found = the_one("straggler", a, b)
        assert found.evidence["rank"] == 1
        assert found.evidence["late_ns"] == [60_000, 80_000, 70_000]
        assert found.cost_ns == 210_000
        assert found.title.startswith(
            "rank 1 comes last to 3 of 3 collectives, 70.0 µs after the rest (60.0 µs to 80.0 µs), "
            "210 µs a step: its CPU launches them late"
        )
        assert the_one("straggler", b, a).evidence["rank"] == 1

    def test_clocks_are_aligned_by_the_ends(self) -> None:
        """Rank 1's clock is 5 ms ahead; its third end is 1 us off."""
        a = self.rank(0, [100, 300, 500], self.ENDS)
        b = self.rank(1, [160, 380, 570], [200, 400, 601], ahead=5000)
        found = the_one("straggler", a, b)
        assert found.evidence["late_ns"] == [60_000, 80_000, 70_000]
        assert found.evidence["clock_shift_ns"] == {"0": 0, "1": 5_000_000}
        assert found.evidence["clock_doubt_ns"] == 1_000
        assert found.title.endswith("clocks aligned by the ends of the collectives, to 1.00 µs")

    def test_a_gpu_that_is_still_busy(self) -> None:
        a = self.rank(0, [100, 300, 500], self.ENDS)
        b = self.rank(1, [160, 380, 570], self.ENDS, busy=40)
        assert "its GPU is still busy when they are launched" in the_one("straggler", a, b).title
        assert the_one("straggler", a, b).advice.startswith("Give rank 1 as much work as the others")

    @pytest.mark.parametrize(
        ("starts", "ends"),
        [
            pytest.param([160, 280, 570], [200, 400, 600], id="they take turns"),
            pytest.param([101, 302, 501], [200, 405, 600], id="less than the clocks are sure of"),
        ],
    )
    def test_else_not(self, starts: list[float], ends: list[float]) -> None:
        assert seen("straggler", self.rank(0, [100, 300, 500], self.ENDS), self.rank(1, starts, ends)) == []

    def test_one_rank_alone_tells_nothing(self) -> None:
        assert seen("straggler", self.rank(0, [100, 300, 500], self.ENDS)) == []

    def test_a_step_with_another_number_of_collectives_is_left_out(self) -> None:
        three, two = (self.rank(i, [100, 300, 500][:n], self.ENDS[:n]) for i, n in ((0, 3), (1, 2)))
        assert meetings((three, two)) is None

    def test_the_rank_with_half_the_work_is_the_late_one(self) -> None:
        """Rank 1 has twice the batch, but both are launch-bound, and it is rank 0's CPU that is late: both
        clocks are the host's, and rank 0's first all-reduce starts 1488.8 us after rank 1's while they end
        2.6 us apart."""
        a, b = ranks("mlp_ddp_straggler")
        found = the_one("straggler", a, b)
        assert found.evidence["rank"] == 0
        assert (found.evidence["last"], found.evidence["collectives"]) == (18, 18)
        assert abs(found.evidence["clock_shift_ns"]["1"]) < 20_000
        raw = 1_488_754 + 0  # starts of 562157.744 and 560668.990 us
        assert found.evidence["late_ns"][0] == raw + found.evidence["clock_shift_ns"]["1"]
        busy = found.evidence["computing_ns"]
        assert 1.7 < busy["1"] / busy["0"] < 2
        assert "its CPU launches them late" in found.title

    def test_the_same_from_the_other_side(self) -> None:
        a, b = ranks("mlp_ddp_straggler")
        one, other = the_one("straggler", a, b), the_one("straggler", b, a)
        assert np.allclose(one.evidence["late_ns"], other.evidence["late_ns"], atol=500)
