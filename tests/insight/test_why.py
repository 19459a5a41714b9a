"""Why a trace takes the time it takes: verdicts, prospects, findings by price."""

from __future__ import annotations

import pytest

import rung
from handmade import ADD, GELU, TILE_A, events, ran
from recordings import TRACES, h200
from rung.errors import UsageError
from rung.insight.findings import rules
from rung.insight.why import Why
from tracelib import annotation, kernel, launch, op, read, step

SQUARE = [64, 64]


def why(name: str) -> Why:
    return rung.why(rung.read(h200(name)))


class TestVerdict:
    @pytest.mark.parametrize(
        ("name", "verdict"),
        [
            ("01_matmul_add_64_bf16_warm_eager", "overhead-bound"),
            ("01_matmul_add_64_bf16_cold_eager", "overhead-bound"),
            ("01_matmul_add_4096_bf16_warm_eager", "compute-bound"),
            ("03_mlp_fp32_eager", "compute-bound"),
            ("06_llama_eager", "overhead-bound"),
        ],
    )
    def test_of_recordings(self, name: str, verdict: str) -> None:
        assert why(name).verdict == verdict

    def test_the_numbers_that_decide_it(self) -> None:
        (region,) = why("01_matmul_add_64_bf16_warm_eager").regions
        assert (region.region, region.instances, region.launches) == ("matmul_add", 3, 2)
        assert (region.wall_ns, region.gpu_busy_ns) == (52_509, 2_785)
        assert region.gpu_idle_share == pytest.approx(1 - 2_785 / 52_509)
        assert region.launch_spacing_ns == 14_675

    def test_shares_of_both_sides_of_the_ridge(self) -> None:
        """169.695 us of products, 22.432 of an add and 0.8 of a memset, of 192.863 us."""
        (region,) = why("01_matmul_add_4096_bf16_warm_eager").regions
        assert region.compute_share == pytest.approx(169_695 / region.gpu_busy_ns)
        assert region.memory_share == pytest.approx((22_432 + 800) / region.gpu_busy_ns)

    def test_without_regions_in_a_step(self) -> None:
        with pytest.raises(UsageError, match="no step 9"):
            rung.why(read(step(1, 0, 10)), step=9)

    def test_of_the_region_with_most_work(self) -> None:
        short = [annotation("a", 0, 50), launch(1, 1, 1), kernel(ADD, 5, 5, 1)]
        long = [annotation("b", 100, 50), launch(101, 1, 2), kernel(ADD, 105, 45, 2)]
        found = rung.why(read(*short, *long))
        assert [one.region for one in found.regions] == ["b", "a"]
        assert found.verdict == "memory-bound"

    def test_a_cpu_has_no_gpu(self) -> None:
        found = rung.why(read(annotation("fwd", 0, 50), op("aten::mm", 0, 30), op("aten::gelu", 30, 10)))
        assert found.verdict == "no-gpu"
        assert [one.id for one in found.costs] == ["hotspot"]


class TestProspects:
    def test_with_launches_free(self) -> None:
        (region,) = why("01_matmul_add_64_bf16_warm_eager").regions
        assert region.prospects.gpu_work_ns == 2_785
        assert region.outlook == "With its GPU work alone, as a CUDA graph has it, it would take 2.79 µs."

    def test_at_the_ceiling(self) -> None:
        """3 x 38.65 GFLOP at the measured 803.7 TFLOP/s are 144.3 us, not 164.9; gelu's and mul's 252 MB
        at 4.267 TB/s are 59.0 us, not 65.9."""
        (region,) = why("03_mlp_eager").regions
        saved = 164_894 - 3 * 38_654_705_664 / 803_717.769596
        assert region.prospects.perfect_compute_ns == pytest.approx(region.gpu_busy_ns - saved, abs=3)
        moved = (100_663_296 + 150_994_944) / 4_267.328661723747
        assert region.prospects.perfect_memory_ns == pytest.approx(
            region.gpu_busy_ns - (65_887 + 1_568 - moved), abs=20
        )
        assert region.outlook == (
            "It would take 224 µs with memory at full bandwidth, or 212 µs with arithmetic at its peak."
        )

    def test_an_unknown_device_promises_nothing(self) -> None:
        (region,) = rung.why(read(*events(ran(GELU, "aten::gelu", SQUARE, dur=19)))).regions
        assert (region.prospects.perfect_memory_ns, region.prospects.perfect_compute_ns) == (None, None)
        assert region.outlook == ""

    def test_nothing_to_do(self) -> None:
        (region,) = rung.why(read(annotation("fwd", 0, 50))).regions
        assert region.prospects.gpu_work_ns is None
        assert region.outlook == ""


class TestFindings:
    def test_the_largest_cost_first_and_none_above_the_wall(self) -> None:
        for name in ("03_mlp_eager", "06_llama_eager", "03_mlp_compile_recompile"):
            found = why(name)
            costs = [one.cost_ns for one in found.findings]
            assert costs == sorted(costs, reverse=True)
            assert all(0 <= one.share <= 1 for one in found.findings)
            assert len([*found.costs, *found.notes, *found.explanations]) == len(found.findings)

    def test_what_streams_do_at_once_costs_no_more_than_the_time(self) -> None:
        both = [launch(2, 1, 1), launch(4, 1, 2), kernel(GELU, 5, 45, 1), kernel(GELU, 5, 45, 2, stream=8)]
        found = rung.why(read(annotation("fwd", 0, 44), *both), only=["memory-bound"])
        assert [(one.cost_ns, one.share) for one in found.findings] == [(45_000, 1.0)]

    def test_of_equal_costs_the_limit_comes_first(self) -> None:
        ids = [one.id for one in why("03_mlp_eager").findings]
        assert ids[:2] == ["compute-bound", "hotspot"]

    def test_only_some(self) -> None:
        trace = rung.read(h200("03_mlp_eager"))
        assert {one.id for one in rung.why(trace, only=["hotspot", "compute-bound"]).findings} == {
            "compute-bound",
            "hotspot",
        }
        assert "hotspot" not in {one.id for one in rung.why(trace, ignore=["hotspot"]).findings}
        assert all(one.share >= 0.2 for one in rung.why(trace, min_share=0.2).findings)
        with pytest.raises(UsageError, match="there is no finding 'hotpot'"):
            rung.why(trace, only=["hotpot"])

    def test_every_rule_is_told_in_a_sentence_each(self) -> None:
        for rule in rules().values():
            assert all(text.endswith(".") and len(text) < 200 for text in (rule.shows, rule.means, rule.do))

    def test_each_cost_has_a_number_and_advice(self) -> None:
        for name in ("03_mlp_eager", "06_llama_eager", "01_matmul_add_64_bf16_cold_eager"):
            for one in why(name).costs:
                assert any(letter.isdigit() for letter in one.title), one
                assert one.evidence, one
                assert one.advice, one


class TestValue:
    def test_as_text(self) -> None:
        lines = str(why("01_matmul_add_64_bf16_warm_eager")).split("\n")
        assert lines[0].startswith("overhead-bound: the GPU works 2.79 µs of each 52.5 µs")
        assert lines[2].startswith("  overhead-bound: the GPU idles 95 %")

    def test_as_html(self) -> None:
        found = rung.why(read(annotation("<b>", 0, 50), launch(1, 1, 1), kernel("<i>", 5, 45, 1)))
        assert "<b>" not in found._repr_html_()

    def test_as_a_frame(self) -> None:
        pandas = pytest.importorskip("pandas")
        found = why("03_mlp_eager")
        frame = found.to_pandas()
        assert isinstance(frame, pandas.DataFrame)
        assert list(frame["id"]) == [one.id for one in found.findings]
        assert list(frame["cost_ns"]) == [one.cost_ns for one in found.findings]

    def test_what_is_not_whole_says_so(self) -> None:
        lost = rung.why(read(step(1, 0, 50), launch(5, 1, 1)))
        assert lost.cautions == ("the recording is not whole: 1 launches, but no GPU work in this trace",)


def test_two_ranks_of_a_job_are_examined_together() -> None:
    paths = [TRACES / f"h200_ranks/mlp_ddp_straggler_rank{rank}.json.gz" for rank in (0, 1)]
    if not paths[0].exists():
        pytest.skip(f"{paths[0]} is not there: the shared traces are not beside this checkout")
    found = rung.why(*map(rung.read, paths))
    assert isinstance(found, Why)
    assert "straggler" in {one.id for one in found.findings}


@pytest.mark.parametrize(
    ("a", "b", "ranks"),
    [
        ({"rank": 0, "world_size": 8}, {"rank": 1, "world_size": 8}, True),
        ({"rank": 0, "world_size": 8}, {"rank": 1, "world_size": 2}, False),
        ({"rank": 0, "world_size": 8}, {"rank": 0, "world_size": 8}, False),
        ({"rank": 0, "world_size": 8}, {}, False),
    ],
)
def test_ranks_of_one_job_are_as_many(a: dict[str, int], b: dict[str, int], ranks: bool) -> None:
    pair = [read(*events(ran(GELU, "aten::gelu")), distributedInfo=info) for info in (a, b)]
    assert isinstance(rung.why(*pair), Why) is ranks


def test_a_product_alone_is_no_hotspot_but_the_limit() -> None:
    big = [8192, 8192]
    found = rung.why(read(*events(ran(TILE_A, "aten::mm", big, big, dur=19))))
    assert [one.id for one in found.costs] == ["compute-bound"]
