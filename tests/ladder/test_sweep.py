"""A sweep: what it measures, and what it says of measured times."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rung.errors import UsageError
from rung.ladder import get_rung
from rung.ladder.sweep import Point, Regime, Sweep, parse, sweep
from rung.ladder.winners import BY_THE_CLOCK, answers, gain

TINY = {"dim": 16, "hidden": 32}

# (wall, CPU, GPU) µs: eager is limited by its launches at 1, by the GPU at 64.
TIMES = {
    (1, "eager"): (80, 78, 10),
    (1, "rung"): (100, 99, 5),
    (64, "eager"): (300, 90, 290),
    (64, "rung"): (200, 95, 190),
}
MEASURED = Sweep(
    rung="mlp",
    parameter="batch",
    values=(1, 64),
    parameters={"seq": 1, "dtype": "bfloat16"},
    train=False,
    made={"device_name": "a <GPU>", "torch": "2.11"},
    variants=("eager", "rung"),
    sources={"rung": "rung.glu"},
    skipped={"liger": "not installed"},
    points=tuple(
        Point(value, variant, *(1000 * time for time in times)) for (value, variant), times in TIMES.items()
    ),
    regimes=(
        Regime(1, "overhead-bound", "overhead-bound: ..."),
        Regime(64, "compute-bound", "compute-bound: ..."),
    ),
)


def test_who_wins_where_and_by_how_much() -> None:
    """80 / 100 and 300 / 200 by the clock; 10 / 5 and 290 / 190 on the GPU."""
    assert answers(MEASURED) == (
        "Fastest by the clock: eager at batch 1; rung at batch 64.",
        "Fastest on the GPU alone: rung at batch 1 and 64.",
        "rung against eager: by the clock 0.80x to 1.50x, on the GPU alone 1.53x to 2.00x as fast.",
        "At least 2x as fast as eager: by the clock nothing; on the GPU alone rung at batch 1.",
    )


def test_on_a_cpu_the_clock_is_all_there_is() -> None:
    points = tuple(replace(point, gpu_ns=None) for point in MEASURED.points[:2])
    assert answers(replace(MEASURED, points=points, values=(1,))) == (
        "Fastest by the clock: eager at batch 1.",
        "rung against eager: by the clock 0.80x as fast.",
        "At least 2x as fast as eager: by the clock nothing.",
    )


def within(point: Point, wall: tuple[int, int], gpu: tuple[int, int]) -> Point:
    """With ranges in µs."""
    least, most = ((low * 1000, high * 1000) for low, high in (wall, gpu))
    return replace(point, wall_range_ns=least, gpu_range_ns=most)


def test_no_winner_where_the_rounds_do_not_tell() -> None:
    """At 1 rung's least round by the clock, 79, is within eager's 80; at 64 its worst is beside the point."""
    eager_1, rung_1, eager_64, rung_64 = MEASURED.points
    points = (
        within(eager_1, (75, 200), (9, 11)),
        within(rung_1, (79, 120), (4, 12)),
        within(eager_64, (290, 400), (285, 295)),
        within(rung_64, (195, 900), (185, 800)),
    )
    assert answers(replace(MEASURED, points=points)) == (
        "Fastest by the clock: rung at batch 64; eager or rung at batch 1 (no difference beyond the spread).",
        "Fastest on the GPU alone: rung at batch 1 and 64.",
        "rung against eager: by the clock 1.50x as fast, at batch 1 no difference beyond the spread; "
        "on the GPU alone 1.53x to 2.00x as fast.",
        "At least 2x as fast as eager: by the clock nothing; on the GPU alone rung at batch 1.",
    )


def test_twice_as_fast_is_claimed_beyond_the_spread_alone() -> None:
    """Medians of 10 and 5, but one of rung's rounds took 4 and one of eager's 3: a busy machine."""
    eager, rung, *_ = MEASURED.points
    points = (within(eager, (80, 80), (3, 40)), within(rung, (100, 100), (4, 5)))
    said = answers(replace(MEASURED, points=points, values=(1,)))
    assert said[-1] == "At least 2x as fast as eager: by the clock nothing; on the GPU alone nothing."
    assert said[1:3] == (
        "Fastest on the GPU alone: rung or eager at batch 1 (no difference beyond the spread).",
        "rung against eager: by the clock 0.80x as fast; on the GPU alone no difference beyond the spread.",
    )


def test_a_gain_is_a_ratio_of_medians() -> None:
    eager, rung, *_ = MEASURED.points
    assert gain(eager, eager, BY_THE_CLOCK) is None
    found = gain(eager, rung, BY_THE_CLOCK)
    assert found is not None
    assert (found.times, found.level) == (0.8, False)


def test_a_part_of_it() -> None:
    part = MEASURED.only([64], ["eager"])
    assert [(point.value, point.variant) for point in part.points] == [(64, "eager")]
    assert [regime.value for regime in part.regimes] == [64]
    assert answers(part)[-1] == "Fastest on the GPU alone: eager at batch 64."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("batch=1,16", ("batch", (1, 16))),
        (" in-dim = 4 , 4,8", ("in_dim", (4, 8))),
    ],
)
def test_what_to_sweep(text: str, expected: Any) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize("text", ["", "batch", "batch=", "=1", "batch=a", "batch=-1", "batch=1.5"])
def test_what_is_no_sweep(text: str) -> None:
    with pytest.raises(UsageError, match="give one parameter, as batch=1,16,64"):
        parse(text)


@pytest.mark.torch
def test_measured_here() -> None:
    pytest.importorskip("torch")
    found = sweep(get_rung("mlp"), "batch", (1, 4), parameters=TINY, variants=["eager", "rung"], device="cpu")
    assert [(point.value, point.variant) for point in found.points] == [(1, "eager"), (4, "eager")]
    assert all(0 < point.cpu_ns <= point.wall_ns and point.gpu_ns is None for point in found.points)
    assert all(point.wall.low <= point.wall_ns <= point.wall.high for point in found.points)
    assert all(point.wall_range_ns and point.gpu_range_ns is None for point in found.points)
    # A batch counts rows.
    assert found.parameters == {"seq": 1, "dim": 16, "hidden": 32, "dtype": "bfloat16"}
    assert found.variants == ("eager",)
    assert found.skipped["rung"].startswith("there is no kernel for a cpu device")
    assert found.regimes == ()


@pytest.mark.torch
@pytest.mark.parametrize(
    ("parameter", "values", "variants", "message"),
    [
        ("size", (1,), None, "mlp has no parameter 'size'"),
        ("batch", (0,), None, "batch is 0"),
        ("batch", (1,), ["math"], "mlp has no variant 'math'"),
    ],
)
def test_senseless_sweeps(parameter: str, values: Any, variants: Any, message: str) -> None:
    pytest.importorskip("torch")
    with pytest.raises(UsageError, match=message):
        sweep(get_rung("mlp"), parameter, values, variants=variants, device="cpu")
