"""Which share of the ceiling kernels reached, in their tables."""

from __future__ import annotations

import pytest

from handmade import GELU, MUL, TILE_A, one, ran, tensors
from rung.insight.ceilings import Ceiling
from rung.insight.forward import Forward
from rung.insight.roofline import Point, roofline
from rung.show import kernels
from rung.show.fitting import Column, Columns, LeftOut
from shown import shown

GPU = Ceiling("Test GPU", 1e12, {"bf16": 100e12}, 100, "by hand")
HALF = "c10::BFloat16"


def pair() -> tuple[Forward, tuple[Point, ...]]:
    """4 and 6 MB: 4 and 6 us at 1 TB/s, in 5 and 8 us; and a memset of 4 B."""
    square = [1000, 1000]
    found = one(
        ran("Memset", "aten::mm"),
        (GELU, "aten::gelu", tensors(square, dtype=HALF), 5),
        (MUL, "aten::mul", tensors(square, square, dtype=HALF), 8),
        ran("mystery", "mine::op"),
    )
    return found, roofline(found, GPU).points


def test_each_kernel_has_its_own() -> None:
    found, points = pair()
    head, memset, gelu, mul, mystery = shown(kernels.in_order(found.rows, points=points)).splitlines()
    assert head.endswith("of ceiling")
    assert gelu.endswith("800 GB/s        80 %")
    assert mul.endswith("750 GB/s        75 %")
    assert "%" not in memset + mystery


def test_a_doubtful_time_has_none() -> None:
    found, points = pair()
    lines = shown(kernels.in_order(found.rows, {GELU}, points=points)).splitlines()
    assert [line[-4:] for line in lines if "%" in line] == ["75 %"]


def test_of_one_name_all_kernels_together() -> None:
    """Twice gelu: 8 us at the ceiling in 5 and 8."""
    args = tensors([1000, 1000], dtype=HALF)
    found = one((GELU, "aten::gelu", args, 5), (GELU, "aten::gelu", args, 8), ran("mystery", "mine::op"))
    lines = shown(kernels.gathered(found.rows, points=roofline(found, GPU).points)).splitlines()
    assert lines[0].endswith("of ceiling")
    assert lines[1].rstrip().endswith("62 %")
    assert not lines[2].rstrip().endswith("62 %")


def test_without_a_ceiling_there_is_no_such_column() -> None:
    found, _ = pair()
    points = roofline(found, None).points
    assert "of ceiling" not in shown(kernels.in_order(found.rows, points=points))
    assert "of ceiling" not in shown(kernels.gathered(found.rows, points=points))
    assert "of ceiling" not in shown(kernels.in_order(found.rows))


@pytest.mark.parametrize(
    ("columns", "ceiling", "said"),
    [
        (8, GPU, "2.03 MB  4.00 µs  508 GB/s"),  # 7.9 FLOP a byte, under the ridge of 100
        (8, None, "16.0 MFLOP  4.00 µs  4.00 TFLOP/s"),
        (1000, GPU, "2.00 GFLOP  4.00 µs  500 TFLOP/s"),  # 333 FLOP a byte
        (1000, None, "2.00 GFLOP  4.00 µs  500 TFLOP/s"),
    ],
)
def test_work_and_rate_are_in_the_unit_of_what_limits(
    columns: int, ceiling: Ceiling | None, said: str
) -> None:
    """[1000, 1000] x [1000, n]: 2e6 n FLOP, and 2 MB for the matrix; in bytes if a ceiling says so."""
    found = one((TILE_A, "aten::mm", tensors([1000, 1000], [1000, columns], dtype=HALF), 4))
    table = shown(kernels.in_order(found.rows, points=roofline(found, ceiling).points))
    assert said in table.splitlines()[1]


@pytest.mark.parametrize(
    ("width", "headings"),
    [(60, "name wide narrow"), (38, "name wide"), (20, "name narrow"), (8, "name")],
)
def test_a_narrow_column_comes_back_where_a_wide_one_had_to_go(width: int, headings: str) -> None:
    """6, 32 and 12 columns; the narrow one is the first to go."""
    columns = Column("name", ["abcd"]), Column("wide", ["w" * 30]), Column("narrow", ["n" * 10])
    left_out = LeftOut()
    table = Columns(columns, [None], ("narrow", "wide"), left_out=left_out)
    assert shown(table, width=width).split("\n")[0].split() == headings.split()
    gone = {"wide", "narrow"} - set(headings.split())
    assert set(left_out.headings) == gone
    assert ("columns left out at this width" in shown(left_out)) is bool(gone)
