"""One typical forward from the instances of a region, on hand-made traces."""

from __future__ import annotations

import pytest

from handmade import ADD, GELU, MUL, events, ran
from rung.errors import UsageError
from rung.insight.forward import chosen, forward, instances, region_names
from tracelib import annotation, call, kernel, launch, op, read, step

WARM = [ran(GELU, "aten::gelu", dur=4), ran(MUL, "aten::mul", dur=6)]
COLD = [ran(ADD, "aten::empty_fill", dur=9), *WARM]


def test_a_cold_first_instance_is_no_part_of_the_typical_sequence() -> None:
    trace = read(*events(*COLD), *events(*WARM, at=100, first=11), *events(*WARM, at=200, first=21))
    found = forward(trace)
    assert (found.instances, found.alike) == (3, 2)
    assert [row.op for row in found.rows] == ["aten::gelu", "aten::mul"]
    assert (found.kernels, found.launches) == (2, 2)
    assert found.gpu_busy_ns.median == 10_000
    assert found.gpu_busy_ns.high == 19_000
    assert found.example.start_ns == 200_000


def test_of_sequences_as_common_the_latest_counts() -> None:
    trace = read(*events(*COLD), *events(*WARM, at=100, first=11))
    assert [row.op for row in forward(trace).rows] == ["aten::gelu", "aten::mul"]


def test_rows_have_their_own_spread() -> None:
    slow = [(name, by, args, dur * 2) for name, by, args, dur in WARM]
    trace = read(*events(*WARM), *events(*slow, at=100, first=11), *events(*WARM, at=200, first=21))
    spreads = [(r.dur_ns.median, r.dur_ns.low, r.dur_ns.high) for r in forward(trace).rows]
    assert spreads == [(4_000, 4_000, 8_000), (6_000, 6_000, 12_000)]


def one_step(number: int) -> list[dict[str, object]]:
    at = 100 * number
    return [step(number, at, 90), launch(at + 5, 2, number + 1), kernel("k", at + 10, 5, number + 1)]


def test_steps_are_instances_of_one_another_where_nothing_is_annotated() -> None:
    trace = read(*one_step(1), *one_step(2), *one_step(3))
    assert region_names(trace) == ["ProfilerStep"]
    assert (forward(trace).region, forward(trace).instances) == ("ProfilerStep", 3)
    assert forward(trace, "ProfilerStep#2").instances == 1
    assert forward(trace, step=2).example.step == 2


def test_without_steps_the_whole_trace_is_the_region() -> None:
    trace = read(launch(5, 2, 1), kernel("k", 10, 5, 1), launch(25, 2, 2), kernel("k", 30, 5, 2))
    found = forward(trace)
    assert (found.instances, found.kernels, found.gpu_busy_ns.median) == (1, 2, 10_000)


def test_regions_with_device_work_come_first() -> None:
    trace = read(
        annotation("load", 0, 1000), annotation("fwd", 2000, 50), launch(2005, 2, 1), kernel("k", 2010, 5, 1)
    )
    assert region_names(trace) == ["fwd", "load"]
    assert forward(trace).region == "fwd"
    idle = forward(trace, "load")
    assert (idle.kernels, idle.rows, idle.gpu_busy_ns.median, idle.gpu_idle_share) == (0, (), 0, 1.0)


def test_one_inside_another_of_its_name_is_no_further_instance() -> None:
    nested = [
        annotation("f", 0, 100),
        annotation("f", 10, 50),
        annotation("other", 70, 20),
        annotation("f", 75, 9),
    ]
    trace = read(*nested, launch(12, 2, 1), kernel("k", 20, 5, 1))
    assert len(trace.regions) == 4
    (found,) = instances(trace, "f")
    assert found.cpu_ns == 100_000
    assert forward(trace).kernels == 1


def test_a_cpu_only_trace_shows_its_compute_ops() -> None:
    trace = read(
        annotation("fwd", 0, 100), op("aten::linear", 5, 50), op("aten::t", 6, 2), op("aten::addmm", 10, 40)
    )
    found = forward(trace)
    assert [(row.name, row.category) for row in found.rows] == [("aten::addmm", "op")]
    assert (found.kernels, found.launches, found.gpu_busy_ns.median) == (1, 0, 0)
    assert found.launchless_ops == {"aten::t": 1}


def test_the_compilers_own_ops_are_priced() -> None:
    pre = [op("TorchDynamo Cache Lookup", 1, 3), op("Pregraph bytecode", 5, 2), op("aten::mul", 8, 5)]
    trace = read(annotation("fwd", 0, 50), *pre, launch(9, 1, 1), kernel("k", 20, 5, 1))
    assert forward(trace).pre_ops_ns == {"TorchDynamo Cache Lookup": 3_000, "Pregraph bytecode": 2_000}


def test_what_a_graph_replays_tells_no_shape() -> None:
    args = {"Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]}
    trace = read(
        annotation("fwd", 0, 50),
        op("aten::mm", 5, 20, **args),
        call("cudaGraphLaunch", 8, 5, correlation=1),
        kernel("toy_gemm", 20, 5, 1),
        kernel("toy_gemm", 25, 5, 1),
    )
    assert [(row.graph, row.gemm, row.work.flop) for row in forward(trace).rows] == [(True, None, None)] * 2
    assert forward(trace).launches == 1


class TestAskingForOne:
    trace = read(*one_step(1), annotation("fwd", 105, 40), *one_step(2), annotation("fwd", 205, 40))

    def test_an_unknown_region(self) -> None:
        with pytest.raises(UsageError, match=r"has no region 'bwd'; it has: fwd\."):
            forward(self.trace, "bwd")

    def test_an_unknown_step(self) -> None:
        with pytest.raises(UsageError, match=r"has no step 7; it has steps 1, 2\."):
            forward(self.trace, step=7)
        with pytest.raises(UsageError, match=r"has no step 0; it has none\."):
            chosen(read(launch(5, 2, 1), kernel("k", 10, 5, 1)), None, 0)

    def test_a_region_that_the_step_lacks(self) -> None:
        trace = read(*one_step(1), annotation("fwd", 105, 40), *one_step(2))
        for region in ("fwd", None):
            with pytest.raises(UsageError, match="in step 2"):
                forward(trace, region, step=2)

    def test_many_names_are_cut_short(self) -> None:
        trace = read(*(annotation(f"r{i:02}", 10 * i, 5) for i in range(30)))
        with pytest.raises(UsageError, match=r"it has: r00, .*, r11 and 18 more\.$"):
            forward(trace, "x")

    def test_regions_and_work_of_a_step(self) -> None:
        regions, kernels = chosen(self.trace, None, 2)
        assert [(r.name, r.step) for r in regions] == [("fwd", 2)]
        assert [k.start_ns for k in kernels] == [110_000]
        assert [len(found) for found in chosen(self.trace, None, None)] == [2, 2]
        assert [r.start_ns for r in chosen(self.trace, "fwd", 1)[0]] == [5_000]
