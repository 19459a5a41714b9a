"""Bytes on the way: copies from the host, and copies that only rearrange."""

from __future__ import annotations

from typing import Any

import pytest

from handmade import GELU, MUL, TILE_A, events, ran, tensors
from rung.trace import Trace
from seen import recorded, seen, the_one
from tracelib import Event, annotation, call, copy, kernel, launch, op, read

COPY = (
    "void at::native::unrolled_elementwise_kernel<"
    "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#1}>"
)
CAT = "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 3, 64, 64>(int)"


def from_host(start: float, dur: float, memory: str = "Pinned", stream: int = 7, nbytes: int = 1000) -> Event:
    """A copy of correlation 1."""
    moved = copy(start, dur, 1, stream=stream, bytes=nbytes)
    return moved | {"name": f"Memcpy HtoD ({memory} -> Device)"}


class TestH2DBlocking:
    def beside(self, moved: Event, kernel_at: float, held: float = 1) -> Trace:
        """A copy from the host, whose call holds the CPU, and a kernel of 20 us on stream 7."""
        calls = [call("cudaMemcpyAsync", 1, held, correlation=1), launch(50, 1, 2)]
        return read(annotation("fwd", 0, 100), *calls, moved, kernel(GELU, kernel_at, 20, 2))

    def test_a_batch_that_the_gpu_waits_for(self) -> None:
        """25_165_824 B in 456.638, 458.239 and 455.902 us, on the kernels' own stream."""
        found = the_one("h2d-blocking", recorded("08_h2d_copy_mlp"))
        assert found.evidence["bytes"] == 25_165_824
        assert found.evidence["exposed_ns"] == found.evidence["copy_ns"] == found.cost_ns == 456_638
        assert found.title == (
            "25.2 MB come from the host, 457 µs (pinned memory, 55.1 GB/s): no kernel runs for 457 µs of it"
        )
        assert found.advice.startswith("Copy the next batch with non_blocking=True on a stream of its own")

    def test_half_of_it_behind_a_kernel(self) -> None:
        """10 to 40 us; a kernel from 25 to 45."""
        found = the_one("h2d-blocking", self.beside(from_host(10, 30, stream=8), 25))
        assert (found.cost_ns, found.share) == (15_000, 0.15)

    def test_not_where_kernels_cover_all_of_it(self) -> None:
        assert seen("h2d-blocking", self.beside(from_host(26, 10, stream=8), 25)) == []

    def test_from_pageable_memory_the_cpu_is_held_too(self) -> None:
        found = the_one("h2d-blocking", self.beside(from_host(26, 10, "Pageable", stream=8), 25, held=40))
        assert found.title == (
            "1.00 kB come from the host, 10.0 µs (pageable memory, 100 MB/s): "
            "the pageable ones hold the CPU for 40.0 µs"
        )
        assert found.advice.startswith("Pin the host memory")
        assert found.cost_ns == 0

    def test_a_kernel_of_another_device_covers_nothing(self) -> None:
        elsewhere = kernel(GELU, 0, 90, 3, device=1) | {"pid": 1}
        calls = [call("cudaMemcpyAsync", 1, 1, correlation=1), launch(3, 1, 3)]
        trace = read(annotation("fwd", 0, 100), *calls, from_host(10, 30), elsewhere)
        assert the_one("h2d-blocking", trace).cost_ns == 30_000

    @pytest.mark.parametrize("way", ["DtoH (Device -> Pageable)", "DtoD (Device -> Device)"])
    def test_other_ways_are_other_matters(self, way: str) -> None:
        assert seen("h2d-blocking", self.beside(copy(10, 10, 1) | {"name": f"Memcpy {way}"}, 50)) == []


class TestLayoutCopy:
    def around(self, *middle: tuple[str, float, dict[str, Any], str]) -> Trace:
        """Copies, each from an op inside another, in front of a product; 10 us apart."""
        made: list[Event] = [annotation("fwd", 0, 10 * len(middle) + 30)]
        for i, (outer, dur, args, name) in enumerate(middle):
            at, number = 10.0 * i, i + 1
            ops = [op(outer, at + 1, 8), op("aten::copy_", at + 2, 6, **args)]
            made += [*ops, launch(at + 3, 1, number), kernel(name, at + 4, dur, number)]
        at, number = 10.0 * len(middle), len(middle) + 1
        return read(
            *made, op("aten::mm", at + 1, 8), launch(at + 2, 1, number), kernel(TILE_A, at + 4, 5, number)
        )

    def test_contiguous_before_a_product(self) -> None:
        """[64, 64] float: 16_384 B read and as many written."""
        found = the_one(
            "layout-copy", self.around(("aten::contiguous", 3, tensors([64, 64], [64, 64]), COPY))
        )
        assert found.title == (
            "1 copy beside matrix products only rearranges a tensor, 32.8 kB in 3.00 µs: aten::contiguous"
        )
        assert (found.cost_ns, found.evidence["bytes"]) == (3_000, 32_768)

    def test_a_run_of_them(self) -> None:
        three = [("aten::reshape", 3.0, {}, COPY)] * 2 + [("aten::cat", 2.0, {}, CAT)]
        found = the_one("layout-copy", self.around(*three))
        assert (found.cost_ns, found.evidence["by"]) == (8_000, {"aten::reshape": 2, "aten::cat": 1})
        assert found.title.endswith("tensors, 8.00 µs: aten::reshape x2 and aten::cat")

    OTHER_DTYPE = {"Input Dims": [[8], [8]], "Input type": ["float", "c10::Half"]}  # noqa: RUF012

    @pytest.mark.parametrize(
        ("op", "args"),
        [
            pytest.param("aten::_to_copy", OTHER_DTYPE, id="another dtype"),
            pytest.param("aten::_to_copy", {}, id="perhaps another dtype"),
            pytest.param("aten::copy_", {}, id="a copy somebody wrote"),
            pytest.param("aten::addmm", {}, id="a bias"),
        ],
    )
    def test_else_not(self, op: str, args: dict[str, Any]) -> None:
        assert seen("layout-copy", self.around((op, 3, args, COPY))) == []

    def test_not_away_from_products(self) -> None:
        far = [ran(COPY, "aten::contiguous"), ran(GELU, "aten::gelu"), ran(TILE_A, "aten::mm")]
        assert seen("layout-copy", read(*events(*far))) == []
        assert seen("layout-copy", read(*events(ran(COPY, "aten::contiguous"), ran(MUL, "aten::mul")))) == []

    def test_inside_a_convolution_they_are_always_for_its_layout(self) -> None:
        ops = [op("aten::cudnn_convolution", 1, 30), launch(3, 1, 1), launch(5, 1, 2)]
        work = [kernel(COPY, 10, 3, 1), kernel(GELU, 20, 5, 2)]
        assert the_one("layout-copy", read(annotation("fwd", 0, 50), *ops, *work)).evidence["by"] == {
            "aten::cudnn_convolution": 1
        }

    def test_none_in_an_mlp(self) -> None:
        assert seen("layout-copy", recorded("03_mlp_eager")) == []
