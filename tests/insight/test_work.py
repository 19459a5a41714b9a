"""FLOP, bytes and tensors from recorded shapes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handmade import GELU, MUL, TILE_A, one, ran, tensors
from rung.insight.spread import spread
from rung.insight.tensors import Tensor, broadcast, inputs
from rung.insight.work import Gemm, gemm_of, output_of
from rung.trace import Op
from tracelib import op, read, read_bytes, text

BF16 = "c10::BFloat16"


def an_op(name: str, args: dict[str, Any]) -> Op:
    return read(op(name, 0, 10, **args)).ops[0]


@pytest.mark.parametrize(
    ("name", "shapes", "gemm"),
    [
        ("aten::mm", [[2, 3], [3, 5]], Gemm(2, 5, 3)),
        ("aten::mm", [[2, 3], [4, 5]], None),
        ("aten::mm", [[2, 3]], None),
        ("aten::addmm", [[5], [2, 3], [3, 5]], Gemm(2, 5, 3)),
        ("aten::bmm", [[7, 2, 3], [7, 3, 5]], Gemm(2, 5, 3, 7)),
        ("aten::bmm", [[7, 2, 3], [8, 3, 5]], None),
        ("aten::baddbmm", [[7, 2, 5], [7, 2, 3], [7, 3, 5]], Gemm(2, 5, 3, 7)),
        ("aten::linear", [[4, 2, 3], [5, 3], [5]], Gemm(8, 5, 3)),
        ("aten::linear", [[4, 2, 3], [5, 4]], None),
        ("aten::gelu", [[2, 3]], None),
    ],
)
def test_matrix_products(name: str, shapes: list[list[int]], gemm: Gemm | None) -> None:
    assert gemm_of(an_op(name, tensors(*shapes))) == gemm


def test_flop_counts_a_multiplication_and_an_addition_for_each_term() -> None:
    assert Gemm(2, 5, 3).flop == 2 * 2 * 5 * 3
    assert Gemm(8192, 3072, 768).flop == 38_654_705_664
    assert Gemm(2, 5, 3, batch=7).flop == 7 * Gemm(2, 5, 3).flop


@pytest.mark.parametrize(
    ("name", "args", "out"),
    [
        ("aten::mm", tensors([2, 3], [3, 5], dtype=BF16), Tensor((2, 5), BF16)),
        ("aten::bmm", tensors([7, 2, 3], [7, 3, 5]), Tensor((7, 2, 5), "float")),
        ("aten::mul", tensors([4, 1], [3]), Tensor((4, 3), "float")),
        ("aten::mul", tensors([4], [3]), None),
        ("aten::mul", {"Input Dims": [[4], [4]], "Input type": ["float", BF16]}, Tensor((4,), "float")),
        ("aten::mul", {"Input Dims": [[4], [4]], "Input type": ["float", "mystery"]}, None),
        ("aten::sum", tensors([4]), None),
        ("aten::mul", {}, None),
    ],
)
def test_outputs(name: str, args: dict[str, Any], out: Tensor | None) -> None:
    assert output_of(an_op(name, args)) == out


def test_bytes_of_pointwise_work_are_each_input_once_and_the_output_once() -> None:
    gelu, mul, mm = one(
        ran(GELU, "aten::gelu", [8, 8]),
        ran(MUL, "aten::mul", [8, 8], [8]),
        ran(TILE_A, "aten::mm", [8, 8], [8, 8]),
    ).rows
    assert gelu.work.nbytes == (64 + 64) * 4
    assert mul.work.nbytes == (64 + 8 + 64) * 4
    assert (mm.work.nbytes, mm.work.flop) == (3 * 64 * 4, 1024)
    assert gelu.bytes_per_s == pytest.approx(512 / 5e-6)
    assert mm.flop_per_s == pytest.approx(1024 / 5e-6)


def test_what_is_no_tensor_is_left_out() -> None:
    args = {
        "Input Dims": [[2, 3], [], [], [[1], [2]], [4], 5, None, [-1], [6]],
        "Input type": [
            "float",
            "Scalar",
            "double",
            "TensorList",
            "mystery",
            "float",
            "float",
            "float",
            ["x"],
        ],
    }
    assert inputs(an_op("aten::mul", args)) == [Tensor((2, 3), "float")]


shapes = st.lists(st.sampled_from([1, 2, 3]), max_size=4)


@given(shapes, shapes)
def test_broadcast_is_symmetric_and_contains_its_inputs(a: list[int], b: list[int]) -> None:
    found = broadcast([Tensor(tuple(a), "float"), Tensor(tuple(b), "float")])
    assert found == broadcast([Tensor(tuple(b), "float"), Tensor(tuple(a), "float")])
    clash = any(x != y and 1 not in (x, y) for x, y in zip(a[::-1], b[::-1], strict=False))
    assert (found is None) is clash
    if found is not None:
        assert len(found) == max(len(a), len(b))
        assert all(n in (1, wide) for s in (a, b) for n, wide in zip(s[::-1], found[::-1], strict=False))


@given(st.lists(st.integers(0, 10**12), min_size=1))
def test_a_spread_is_of_values_that_occurred(values: list[int]) -> None:
    found = spread(values)
    assert {found.median, found.low, found.high} <= set(values)
    assert found.low == min(values)
    assert found.high == max(values)
    half = len(values) / 2
    assert sum(v <= found.median for v in values) >= half
    assert sum(v >= found.median for v in values) >= half


def test_a_spread_is_wide_from_a_tenth_of_the_median_on() -> None:
    assert not spread([95, 100, 105]).is_wide
    assert spread([95, 100, 106]).is_wide
    assert spread([1, 2, 3, 4]).median == 2


def test_damaged_arguments_tell_what_they_still_can() -> None:
    """`Infinity` is no JSON: the text is repaired, and the shapes beside it are read."""
    event = op("aten::mm", 1, 5, **{"Input Dims": [[4, 8], [8, 2]], "Input type": ["float"] * 2, "x": 0})
    damaged = text(event).replace(b'"x": 0', b'"x": Infinity')
    assert gemm_of(read_bytes(damaged).ops[0]) == Gemm(4, 2, 8)
