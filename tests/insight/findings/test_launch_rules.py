"""What is launched, and what only looks like work: ops without kernels, queries, graphs, streams."""

from __future__ import annotations

from typing import Any

import pytest

from handmade import ADD, GELU, MUL, TILE_A, events, ran
from seen import recorded, seen, the_one
from tracelib import annotation, call, copy, kernel, launch, memset, op, read

SQUARE = [64, 64]
ONE_LINEAR = ["t", "transpose", "as_strided", "reshape", "view", "_unsafe_view"]


class TestZeroKernelOps:
    def test_the_views_of_three_linears(self) -> None:
        found = the_one("zero-kernel-ops", recorded("03_mlp_eager"))
        assert found.evidence["ops"] == {f"aten::{name}": 3 for name in ONE_LINEAR}
        assert found.title.startswith(
            "18 ops launch nothing, they only rewrite shape and stride: "
            "t, transpose, as_strided, reshape, view and _unsafe_view ("
        )
        assert (found.cost_ns, found.severity) == (0, "note")

    def test_time_inside_another_view_counts_once(self) -> None:
        nested = [op("aten::t", 1, 7), op("aten::transpose", 2, 4), op("aten::view", 20, 2)]
        work = [launch(30, 1, 1), kernel("k", 40, 5, 1)]
        found = the_one("zero-kernel-ops", read(annotation("fwd", 0, 50), *nested, *work))
        assert found.evidence["cpu_ns"] == 9_000
        assert found.title.endswith("t, transpose and view (9.00 µs of CPU time)")

    def test_one_op_is_singular(self) -> None:
        view = [annotation("fwd", 0, 50), op("aten::view", 1, 2), launch(5, 1, 1), kernel("k", 9, 5, 1)]
        assert the_one("zero-kernel-ops", read(*view)).title == (
            "1 op launches nothing, it only rewrites shape and stride: view (2.00 µs of CPU time)"
        )

    def test_a_reshape_that_copies_is_none(self) -> None:
        copying = [
            op("aten::reshape", 1, 20),
            op("aten::copy_", 2, 18),
            launch(3, 1, 1),
            kernel("k", 9, 5, 1),
        ]
        assert seen("zero-kernel-ops", read(annotation("fwd", 0, 50), *copying)) == []

    def test_compiled_they_are_not_dispatched(self) -> None:
        assert seen("zero-kernel-ops", recorded("03_mlp_compile")) == []


class TestManyNames:
    def test_a_linear(self) -> None:
        assert the_one("many-names", recorded("03_mlp_eager")).title == (
            "aten::linear walks through t, transpose, as_strided, matmul, reshape, view, mm and "
            "_unsafe_view: 9 names, one kernel"
        )

    def test_not_of_an_op_that_runs_two_kernels(self) -> None:
        ops = [
            op("aten::linear", 0, 40),
            op("aten::t", 1, 9),
            op("aten::transpose", 2, 7),
            op("aten::mm", 12, 20),
        ]
        one = [launch(13, 1, 1), kernel(TILE_A, 20, 5, 1)]
        two = [launch(15, 1, 2), kernel("splitKreduce_kernel", 26, 5, 2)]
        region = annotation("fwd", 0, 50)
        assert the_one("many-names", read(region, *ops, *one)).evidence["inside"] == ["t", "transpose", "mm"]
        assert seen("many-names", read(region, *ops, *one, *two)) == []

    def test_not_of_two_names(self) -> None:
        ops = [op("aten::matmul", 0, 40), op("aten::mm", 12, 20), launch(13, 1, 1), kernel(TILE_A, 20, 5, 1)]
        assert seen("many-names", read(annotation("fwd", 0, 50), *ops)) == []


class TestHeavyLaunch:
    QUERY = call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", 2, 1)
    GEMM = (op("aten::mm", 1, 9), QUERY, launch(4, 1, 1), kernel(TILE_A, 12, 5, 1))

    def test_alone_there_are_no_others(self) -> None:
        assert the_one("heavy-launch", read(annotation("fwd", 0, 90), *self.GEMM)).title == (
            "1 GEMM asks for the kernel's occupancy right before the launch (1.00 µs of CPU time): "
            "the library sizes the grid"
        )

    def test_beside_one_that_does_not(self) -> None:
        more = [op("aten::gelu", 20, 9), launch(22, 1, 2), kernel(GELU, 30, 5, 2)]
        found = the_one("heavy-launch", read(annotation("fwd", 0, 90), *self.GEMM, *more))
        assert found.title.endswith("; the others launch directly")
        assert found.evidence == {"asked": 1, "kernels": 2, "kinds": {"gemm": 1}, "cpu_ns": 1_000}

    def test_nobody_asks(self) -> None:
        assert seen("heavy-launch", read(*events(ran(TILE_A, "aten::mm", SQUARE, SQUARE)))) == []


class TestGraphLaunch:
    @pytest.mark.parametrize(
        ("name", "kernels"), [("03_mlp_manual_cudagraph", 5), ("03_mlp_compile_cudagraph", 4)]
    )
    def test_one_launch_many_kernels(self, name: str, kernels: int) -> None:
        found = the_one("graph-launch", recorded(name))
        assert found.title == f"one cudaGraphLaunch replays {kernels} kernels and 2 memsets"
        assert found.evidence["launches"] == 1

    def test_two_graphs(self) -> None:
        graphs = [call("cudaGraphLaunch", at, 2, correlation=at) for at in (1, 5)]
        work = [kernel("a", 10, 2, 1), memset(13, 1, 1), kernel("b", 20, 2, 5), copy(23, 1, 5)]
        found = the_one("graph-launch", read(annotation("fwd", 0, 40), *graphs, *work))
        assert found.title == "2 cudaGraphLaunch replay 2 kernels, 1 copy and 1 memset"

    def test_none_without_a_graph(self) -> None:
        assert seen("graph-launch", recorded("03_mlp_eager")) == []


class TestStreamSerial:
    def two(self, second_start: float, name: str = MUL) -> Any:
        """10 us on stream 7 from 10 on, 4 us on stream 8."""
        work = [kernel(GELU, 10, 10, 1), kernel(name, second_start, 4, 2, stream=8)]
        return read(annotation("fwd", 0, 40), launch(1, 1, 1), launch(3, 1, 2), *work)

    def test_one_after_the_other(self) -> None:
        found = the_one("stream-serial", self.two(20))
        assert (
            found.title
            == "2 streams never work at the same time: 10.0 µs on stream 7 and 4.00 µs on stream 8"
        )

    def test_not_where_they_overlap(self) -> None:
        assert seen("stream-serial", self.two(18)) == []

    def test_one_stream_and_one_for_collectives_are_no_matter(self) -> None:
        assert (
            seen("stream-serial", self.two(20, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)"))
            == []
        )
        assert seen("stream-serial", read(*events(ran(GELU, "aten::gelu"), ran(ADD, "aten::add")))) == []

    def test_many_are_told_shortly(self) -> None:
        work = [w for i in range(5) for w in (launch(i, 1, i + 1), kernel(GELU, 10 * i, 5, i + 1, stream=i))]
        title = the_one("stream-serial", read(annotation("fwd", 0, 90), *work)).title
        assert title.startswith("5 streams never work")
        assert title.endswith(" and 2 others")
