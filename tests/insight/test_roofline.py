"""Kernels under the roof of their device: worked out by hand, and on real recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rung
from handmade import GELU, MUL, TILE_A, one, ran, tensors
from recordings import TRACES, all_of, h200
from rung.insight.bound import bound
from rung.insight.ceilings import Ceiling, ceiling_of
from rung.insight.forward import Forward, WorkRow, forward
from rung.insight.roofline import Point, Roofline, reached, roofline
from rung.insight.work import work_of
from tracelib import annotation, copy, launch, op, read, work

BF16 = "c10::BFloat16"
GPU = Ceiling("Test GPU", 1e12, {"bf16": 100e12, "fp16": 50e12}, 100, "measured by hand")
"""A ridge of 100 FLOP a byte in bf16."""


def placed(name: str, by: str, args: dict[str, Any], ceiling: Ceiling | None = GPU, dur: float = 5) -> Point:
    return roofline(one((name, by, args, dur)), ceiling).points[0]


class TestByHand:
    def test_many_flop_a_byte(self) -> None:
        """[1000, 1000] x [1000, 1000] in bf16: 2 GFLOP, 6 MB."""
        point = placed(TILE_A, "aten::mm", tensors([1000, 1000], [1000, 1000], dtype=BF16), dur=40)
        assert (point.flop, point.nbytes, point.dtype) == (2 * 10**9, 6 * 10**6, "bf16")
        assert point.intensity == pytest.approx(333.3, abs=0.1)
        assert point.side == "compute"
        assert (point.compute_ns, point.memory_ns, point.least_ns) == (20_000, 6_000, 20_000)
        assert point.flop_per_s == pytest.approx(50e12)
        assert reached([point]) == 0.5

    def test_few_flop_a_byte(self) -> None:
        """[1, 1000] x [1000, 1000]: 2 MFLOP, 2.004 MB."""
        point = placed(TILE_A, "aten::mm", tensors([1, 1000], [1000, 1000], dtype=BF16))
        assert point.side == "memory"
        assert (point.compute_ns, point.memory_ns, point.least_ns) == (20, 2004, 2004)

    def test_the_side_is_the_devices_own(self) -> None:
        """500 MFLOP over 3 MB: above this ridge, below the one assumed where the device is unknown."""
        wide = tensors([1000, 250], [250, 1000], dtype=BF16)
        assert placed(TILE_A, "aten::mm", wide).side == "compute"
        assert placed(TILE_A, "aten::mm", wide, None).side == "memory"

    def test_elementwise_work_is_on_the_side_of_memory(self) -> None:
        point = placed(GELU, "aten::gelu", tensors([1000, 1000], dtype=BF16))
        assert (point.flop, point.nbytes, point.side, point.least_ns) == (None, 4 * 10**6, "memory", 4000)
        assert point.bytes_per_s == pytest.approx(0.8e12)

    def test_what_is_not_known_is_none(self) -> None:
        lost = placed(TILE_A, "aten::mm", {})
        assert (lost.side, lost.flop, lost.nbytes, lost.least_ns) == (None, None, None, None)
        assert placed("mystery", "mine::op", {}).side is None
        fp64 = placed("sm80_xmma_gemm_f64f64_f64f64_f64_tn_n_tilesize64x64x16", "aten::mm", {})
        assert fp64.compute_ns is None

    def test_fp32_that_may_be_tf32_has_no_peak_and_a_side_where_both_agree(self) -> None:
        """Ridges of 10 and 100 FLOP a byte; n x n products of fp32 have n / 6."""
        gpu = Ceiling("Test GPU", 1e12, {"fp32": 10e12, "tf32": 100e12}, 100, "measured by hand")

        def square(n: int, name: str = "mystery_gemm_kernel") -> Point:
            return placed(name, "aten::mm", tensors([n, n], [n, n]), gpu)

        assert (square(600).dtype, square(600).compute_ns, square(600).least_ns) == (None, None, None)
        assert [square(n).side for n in (48, 300, 660)] == ["memory", None, "compute"]
        assert square(300, "volta_sgemm_128x32_nt").side == "compute"
        tensor_core = square(
            300, "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_32x6_nt_align4>(int)"
        )
        assert (tensor_core.dtype, tensor_core.side) == ("tf32", "memory")

    def test_without_a_ceiling_times_at_it_are_none(self) -> None:
        point = placed(TILE_A, "aten::mm", tensors([8, 8], [8, 8], dtype=BF16), None)
        assert (point.flop, point.compute_ns, point.memory_ns, point.least_ns) == (1024, None, None, None)

    def test_a_copy_on_the_device_reads_and_writes_one_from_the_host_goes_over_the_bus(self) -> None:
        pinned = work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 20, 5, 2, bytes=1000)
        here = copy(5, 5, 1, bytes=1000)
        trace = read(
            annotation("fwd", 0, 50), op("aten::copy_", 1, 9), launch(2, 1, 1), launch(4, 1, 2), here, pinned
        )
        device, host = roofline(forward(trace), GPU).points
        assert (device.nbytes, device.side, device.least_ns) == (2000, "memory", 2)
        assert (host.nbytes, host.side, host.least_ns, host.bytes_per_s) == (None, None, None, None)
        assert host.row.work.nbytes == 1000

    def test_together_they_reach_the_share_of_their_times(self) -> None:
        """4 and 6 us at the ceiling in 5 and 15 us."""
        rows = one(
            (GELU, "aten::gelu", tensors([1000, 1000], dtype=BF16), 5),
            (MUL, "aten::mul", tensors([1000, 1000], [1000, 1000], dtype=BF16), 15),
            ran("k", "x"),
        )
        gelu, mul, other = roofline(rows, GPU).points
        assert reached([gelu, mul]) == 0.5
        assert reached([gelu, other]) is None
        assert reached([]) is None


def look(name: str, folder: str = "h200") -> tuple[Forward, Roofline]:
    found = forward(rung.read(h200(name)))
    return found, roofline(found, ceiling_of(found.example.trace))


class TestRecorded:
    """On an H200, whose copies and products were measured."""

    def test_a_large_product_runs_at_the_rate_of_its_flop_over_its_time(self) -> None:
        """2 x 4096^3 FLOP in the median of the kernel's own events."""
        found, placed = look("01_matmul_add_4096_bf16_warm_eager")
        gemm = next(point for point in placed.points if point.row.kind == "gemm")
        events = sorted(k.dur_ns for k in found.example.trace.kernels if k.name == gemm.row.name)
        by_hand = 2 * 4096**3 / events[len(events) // 2] * 1e9
        assert gemm.flop_per_s == pytest.approx(by_hand, rel=0.02)
        assert reached([gemm]) == pytest.approx(1, abs=0.02)
        assert bound(found, placed).limit == "compute-bound"

    def test_the_mlp(self) -> None:
        """Three products of 38.65 GFLOP; gelu moves two tensors of 50.3 MB, mul three."""
        _, placed = look("03_mlp_eager")
        work = [(p.row.kind, p.flop, p.nbytes, p.side) for p in placed.points if p.row.category == "kernel"]
        tensor, small = 50_331_648, 12_582_912 + 4_718_592
        assert work == [
            ("gemm", 38_654_705_664, tensor + small, "compute"),
            ("gemm", 38_654_705_664, tensor + small, "compute"),
            ("pointwise", None, 2 * tensor, "memory"),
            ("pointwise", None, 3 * tensor, "memory"),
            ("gemm", 38_654_705_664, tensor + small, "compute"),
        ]

    def test_one_row_at_a_time_is_on_the_side_of_memory(self) -> None:
        _, placed = look("03_mlp_decode_eager")
        assert {p.side for p in placed.points if p.row.kind == "gemm"} == {"memory"}

    def test_the_compiled_kernel_moves_three_tensors_once(self) -> None:
        _, placed = look("03_mlp_compile")
        fused = next(p for p in placed.points if p.row.decoded.family == "inductor")
        assert fused.nbytes == 3 * 50_331_648
        assert 0.9 < (reached([fused]) or 0) < 1.05

    def test_attention(self) -> None:
        """Causal, 8 x 12 heads of 512 rows and 64 columns: half of 2 products of 3.22 GFLOP."""
        _, placed = look("04_attention_eager")
        (point,) = [p for p in placed.points if p.row.kind == "attention"]
        assert (point.flop, point.nbytes) == (2 * 8 * 12 * 512 * 512 * 64, 4 * 2 * 8 * 12 * 512 * 64)

    def test_the_optimizer_moves_seven_lists(self) -> None:
        """AdamW on 7.08 M weights in bf16: weights and moments read and written, gradients read."""
        trace = rung.read(h200("07_mlp_train_eager"))
        (found,) = {work_of(k).nbytes for k in trace.kernels if k.op and k.op.name == "aten::_fused_adamw_"}
        assert found == 7 * 2 * 3 * 768 * 3072


GRAPHS = ("03_mlp_compile_cudagraph", "03_mlp_manual_cudagraph")
"""Replayed: no op, no shapes."""


@pytest.mark.parametrize("path", all_of("h200") + all_of("h200_ranks"), ids=lambda path: path.name)
def test_nothing_is_faster_than_the_device(path: Path) -> None:
    """A tenth more than what was measured, for products and for tensors larger than twice its 50 MB of L2."""
    found = forward(rung.read(path))
    for point in roofline(found, ceiling_of(found.example.trace)).points:
        if (point.flop or (point.nbytes or 0) > 100_000_000) and (share := reached([point])) is not None:
            assert share < 1.1, point.row.name


@pytest.mark.parametrize("path", all_of("h200"), ids=lambda path: path.name)
def test_most_of_the_time_is_counted(path: Path) -> None:
    """Of kernels whose op was recorded with its shapes; communication is another matter."""
    if any(path.name.startswith(name) for name in GRAPHS):
        return
    linked = [k for k in rung.read(path).kernels if k.op is not None]
    counted = sum(k.dur_ns for k in linked if work_of(k).flop is not None or work_of(k).nbytes is not None)
    assert counted >= 0.8 * sum(k.dur_ns for k in linked)


def test_the_recordings_are_those_of_this_folder() -> None:
    """Guards the two tests above against an empty list where the recordings are there."""
    if TRACES.is_dir():
        assert len(all_of("h200")) > 20


def test_rows_and_points_go_together() -> None:
    found = one(ran(GELU, "aten::gelu", [8, 8]), ran("Memset", "aten::mm"), ran(TILE_A, "aten::mm"))
    rows: list[WorkRow] = [point.row for point in roofline(found, GPU).points]
    assert rows == list(found.rows)
