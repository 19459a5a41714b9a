"""When a remark is made, and when there is too little to make it."""

from __future__ import annotations

from typing import Any

import pytest

from handmade import ADD, GELU, MUL, TILE_A, TILE_B, events, one, ran
from rung.insight.bound import bound
from rung.insight.forward import Forward, forward, instances
from rung.insight.remarks import (
    bias_in_epilogue,
    cold_start,
    copied_bias,
    launchless,
    library_memsets,
    occupancy_queries,
    other_tiles,
    remarks,
    round_trip,
)
from tracelib import annotation, call, kernel, launch, memset, op, read

SQUARE = [64, 64]
BIG = [8192, 8192]
ADDMM = ran(TILE_A, "aten::addmm", [64], SQUARE, SQUARE)


class TestBias:
    def test_one_kernel_for_addmm_is_an_epilogue(self) -> None:
        said = bias_in_epilogue(one(ADDMM))
        assert said == (
            "aten::addmm is one kernel: the bias rides in the GEMM's epilogue, there is no aten::add"
        )

    @pytest.mark.parametrize(
        "kernels",
        [
            pytest.param([ran(TILE_A, "aten::mm", SQUARE, SQUARE)], id="no bias"),
            pytest.param([ADDMM, ran(ADD, "aten::add", SQUARE, SQUARE)], id="an add beside"),
            pytest.param([ran("Memcpy", "aten::addmm"), ADDMM], id="a copy, which may be the bias"),
        ],
    )
    def test_else_not(self, kernels: list[Any]) -> None:
        assert bias_in_epilogue(one(*kernels)) is None

    def test_not_where_addmm_launches_a_second_kernel(self) -> None:
        second = [launch(5, 1, 2), kernel("splitKreduce_kernel", 9, 1, 2)]
        assert bias_in_epilogue(forward(read(*events(ADDMM), *second))) is None

    def test_a_copy_inside_addmm_is_told_as_it_looks(self) -> None:
        said = copied_bias(one(ran("Memcpy", "aten::addmm"), ADDMM))
        assert said is not None
        assert said.startswith("inside aten::addmm 4 B are copied on the device before the GEMM, 5.00 µs")
        assert copied_bias(one(ran("Memcpy", "aten::copy_"), ADDMM)) is None


class TestMemsets:
    GEMM = ran(TILE_A, "aten::mm", SQUARE, SQUARE)

    def in_one_op(self, **args: Any) -> Forward:
        return forward(
            read(
                annotation("fwd", 0, 50),
                op("aten::mm", 1, 20),
                call("cudaMemsetAsync", 2, 1, correlation=1),
                launch(4, 1, 2),
                memset(10, 1, 1, **args),
                kernel(TILE_A, 12, 5, 2),
            )
        )

    def test_one_from_the_op_of_the_gemm_behind_it_is_the_librarys(self) -> None:
        said = "a memset (4 B) belongs to the GEMM library, right before its kernel"
        assert library_memsets(self.in_one_op(bytes=4)) == said

    def test_of_unknown_size(self) -> None:
        said = "a memset belongs to the GEMM library, right before its kernel"
        assert library_memsets(self.in_one_op()) == said

    def test_one_from_another_op_is_not(self) -> None:
        assert library_memsets(one(ran("Memset", "aten::zero_"), self.GEMM)) is None

    def test_in_a_graph_and_without_ops_nobody_knows_whose_it_is(self) -> None:
        work = [memset(10, 1, 1), kernel(TILE_A, 12, 5, 1)]
        graph = [op("Torch-Compiled Region: 0/0", 1, 20), call("cudaGraphLaunch", 2, 5, correlation=1)]
        assert library_memsets(forward(read(annotation("fwd", 0, 50), *graph, *work))) is None
        loose = [call("cudaMemsetAsync", 2, 1, correlation=1), launch(4, 1, 2)]
        apart = [memset(10, 1, 1), kernel(TILE_A, 12, 5, 2)]
        assert library_memsets(forward(read(annotation("fwd", 0, 50), *loose, *apart))) is None


class TestTiles:
    def test_named_by_n_where_that_tells_them_apart(self) -> None:
        found = one(ran(TILE_A, "aten::mm", [8, 4], [4, 16]), ran(TILE_B, "aten::mm", [8, 16], [16, 4]))
        assert other_tiles(found) == (
            "the GEMMs are not one kernel: 256x128 for N = 16 and 192x128 for N = 4; "
            "the library picks a tile by shape"
        )

    def test_else_by_their_whole_shapes(self) -> None:
        found = one(ran(TILE_A, "aten::mm", [8, 4], [4, 16]), ran(TILE_B, "aten::mm", [2, 4], [4, 16]))
        assert "256x128 for [8, 4] x [4, 16] and 192x128 for [2, 4] x [4, 16]" in (other_tiles(found) or "")

    def test_one_kernel_is_no_matter(self) -> None:
        assert other_tiles(one(ran(TILE_A, "aten::mm", SQUARE, SQUARE))) is None


class TestRoundTrip:
    def test_neighbours_of_which_one_reads_what_the_other_wrote(self) -> None:
        said = round_trip(one(ran(GELU, "aten::gelu", SQUARE), ran(MUL, "aten::mul", SQUARE, SQUARE)))
        assert said == (
            "aten::gelu writes 16.4 kB to memory and aten::mul reads as many back: "
            "one kernel for both would save that round trip"
        )

    def test_the_output_has_the_inputs_broadcast_shape(self) -> None:
        said = round_trip(one(ran(ADD, "aten::add", SQUARE, [64]), ran(GELU, "aten::gelu", SQUARE)))
        assert said is not None
        assert said.startswith("aten::add writes 16.4 kB")

    @pytest.mark.parametrize(
        "kernels",
        [
            pytest.param(
                [ran(GELU, "aten::gelu", SQUARE), ran(MUL, "aten::mul", [9], [9])], id="other sizes"
            ),
            pytest.param([ran(GELU, "aten::gelu"), ran(MUL, "aten::mul")], id="no shapes"),
            pytest.param([ran(GELU, "aten::gelu", SQUARE)] * 2, id="the same op twice"),
            pytest.param(
                [ran(GELU, "aten::gelu", SQUARE), ADDMM, ran(MUL, "aten::mul", SQUARE, SQUARE)], id="apart"
            ),
        ],
    )
    def test_else_not(self, kernels: list[Any]) -> None:
        assert round_trip(one(*kernels)) is None


class TestOccupancy:
    def asking(self, *more: dict[str, Any]) -> Forward:
        query = call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", 2, 1)
        first = [op("aten::mm", 1, 9), query, launch(4, 1, 1), kernel(TILE_A, 12, 5, 1)]
        return forward(read(annotation("fwd", 0, 90), *first, *more))

    def test_alone_there_are_no_others(self) -> None:
        said = occupancy_queries(self.asking())
        assert said == (
            "1 GEMM asks for the kernel's occupancy right before the launch: the library sizes the grid"
        )

    def test_beside_one_that_does_not(self) -> None:
        said = occupancy_queries(
            self.asking(op("aten::gelu", 20, 9), launch(22, 1, 2), kernel(GELU, 30, 5, 2))
        )
        assert said is not None
        assert said.endswith("; the others launch directly")

    def test_nobody_asks(self) -> None:
        assert occupancy_queries(one(ADDMM)) is None


def calls(*widths: float) -> list[Any]:
    trace = read(*(annotation("fwd", 1000 * i, width) for i, width in enumerate(widths)))
    return instances(trace)


@pytest.mark.parametrize(
    ("widths", "cold"),
    [((900, 90, 50), True), ((899, 90, 50), False), ((50, 50, 900), False), ((900,), False), ((0, 0), False)],
)
def test_ten_times_as_wide_as_any_other_is_cold(widths: tuple[float, ...], cold: bool) -> None:
    assert bool(cold_start(calls(*widths))) is cold


def test_what_is_cold_is_said_with_its_numbers() -> None:
    assert cold_start(calls(900, 80, 50, 90)) == (
        "cold: the first forward took 900 µs on the CPU, then 80.0 µs, 50.0 µs and 90.0 µs"
    )


def test_one_op_that_launches_nothing_is_singular() -> None:
    view = [annotation("fwd", 0, 50), op("aten::view", 1, 2), launch(5, 1, 1), kernel("k", 9, 5, 1)]
    assert launchless(forward(read(*view))) == (
        "1 op launches nothing, it only rewrites shape and stride: view"
    )


def test_nothing_to_remark() -> None:
    assert remarks(one(ran("k", "aten::mystery")), []) == []


class TestBound:
    """10 us of wall for each kernel, and 10 us more."""

    @pytest.mark.parametrize(
        ("kernels", "limit"),
        [
            ([ran(TILE_A, "aten::mm", BIG, BIG, dur=40)], "compute-bound"),
            ([ran(GELU, "aten::gelu", BIG, dur=40)], "memory-bound"),
            ([ran(GELU, "aten::gelu", BIG, dur=4)], "overhead-bound"),
            ([ran(TILE_A, "aten::mm", [1, 64], [64, 64], dur=40)], "memory-bound"),
            ([ran(TILE_A, "aten::mm", [0, 0], [0, 0], dur=40)], "memory-bound"),
            ([ran(TILE_A, "aten::mm", dur=40)], "compute-bound"),
            ([ran(TILE_A, "aten::mm", BIG, BIG, dur=9), ran(GELU, "aten::gelu", BIG, dur=9)], "mixed"),
        ],
    )
    def test_limits(self, kernels: list[Any], limit: str) -> None:
        assert bound(one(*kernels)).limit == limit

    def test_no_share_is_more_than_all_of_it(self) -> None:
        both = [launch(2, 1, 1), launch(4, 1, 2), kernel(GELU, 5, 40, 1), kernel(MUL, 5, 40, 2, stream=8)]
        said = bound(forward(read(annotation("fwd", 0, 44), *both))).sentence
        assert said == "memory-bound: the GPU works 40.0 µs of each 44.0 µs, 100 % of it moving bytes"

    def test_a_gpu_that_waits_part_of_the_time_is_bound_by_neither_side(self) -> None:
        """40 of 50 us: a faster kernel would in part only wait longer."""
        work = [launch(2, 1, 1), kernel(TILE_A, 5, 40, 1)]
        found = bound(forward(read(annotation("fwd", 0, 50), *work)))
        assert found.limit == "mixed"
        assert "waits for the CPU the rest (20 %); 100 % of its work is matrix products" in found.sentence

    def test_no_work_and_work_on_the_cpu_are_told_apart(self) -> None:
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
