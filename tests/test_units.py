"""Numbers with units: what they say, and that they say it truly."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rung import units

SCALES = {
    units.duration: {"ns": 1, "µs": 10**3, "ms": 10**6, "s": 10**9},
    units.size: {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12},
    units.flop: {
        "FLOP": 1, "kFLOP": 10**3, "MFLOP": 10**6, "GFLOP": 10**9, "TFLOP": 10**12, "PFLOP": 10**15,
    },
}  # fmt: skip


def parsed(text: str, scale: dict[str, int]) -> float:
    number, unit = text.split(" ")
    return float(number) * scale[unit]


@pytest.mark.parametrize("say", SCALES)
@given(st.integers(0, 10**15))
def test_it_reads_back_within_rounding(say: object, value: int) -> None:
    """To three digits: within half a unit of the third, so within 0.5 %."""
    assert callable(say)
    back = parsed(say(value), SCALES[say])
    assert math.isclose(back, value, rel_tol=0.00501)


@pytest.mark.parametrize("say", SCALES)
@given(st.integers(0, 10**15), st.integers(0, 10**15))
def test_more_never_reads_as_less(say: object, a: int, b: int) -> None:
    assert callable(say)
    low, high = sorted((a, b))
    assert parsed(say(low), SCALES[say]) <= parsed(say(high), SCALES[say])


@pytest.mark.parametrize("say", SCALES)
@given(st.integers(0, 10**12))
def test_three_digits_and_no_more(say: object, value: int) -> None:
    assert callable(say)
    number = say(value).split(" ")[0]
    assert len(number.replace(".", "").lstrip("0")) <= (3 if value < 999 * max(SCALES[say].values()) else 99)


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"), (999, "999 ns"), (1000, "1.00 µs"), (56_575, "56.6 µs"), (9_995, "10.0 µs"),
        (999_499, "999 µs"), (999_500, "1.00 ms"), (4_900_000_000, "4.90 s"), (5_000_000_000_000, "5000 s"),
    ],
)  # fmt: skip
def test_durations(ns: int, text: str) -> None:
    assert units.duration(ns) == text


def test_rates() -> None:
    assert units.flop_rate(683e12) == "683 TFLOP/s"
    assert units.byte_rate(3.363e12) == "3.36 TB/s"
    assert units.percent(0.948) == "95 %"


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        (233, 207, "-11 %"), (100, 133, "+33 %"), (161, 437, "2.7x"), (100, 100, "±0 %"), (1000, 999, "±0 %"),
        (0, 5, ""), (5, 0, "-100 %"), (52, 195_316, "3756x"), (1, 9.96, "10x"), (100, 200, "2.0x"),
        (1000, 3, "-99.7 %"), (10**6, 1, "-99.9 %"), (1000, 6, "-99 %"),
    ],
)  # fmt: skip
def test_changes(a: float, b: float, text: str) -> None:
    assert units.change(a, b) == text


@pytest.mark.parametrize(
    ("n", "noun", "text"),
    [
        (1, "kernel", "1 kernel"),
        (0, "kernel", "0 kernels"),
        (2, "copy", "2 copies"),
        (7, "launch", "7 launches"),
    ],
)
def test_counts(n: int, noun: str, text: str) -> None:
    assert units.count(n, noun) == text


def test_listings() -> None:
    assert [units.listing("abc"[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
