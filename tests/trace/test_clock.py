"""Microseconds as written -> integer nanoseconds, against `decimal`."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rung.trace import clock
from tracelib import kernel, read_bytes, text

NO_TIME = int(clock.NO_TIME)


def by_decimal(written: str) -> int:
    return int((Decimal(written) * 1000).to_integral_value(ROUND_HALF_EVEN))


def from_float(written: str) -> int:
    (ns,) = numbers([float(written)])
    return ns


def numbers(values: Sequence[float | None]) -> list[int]:
    ns = clock.from_numbers(values)
    assert ns is not None
    return ns.tolist()


@given(st.integers(0, 2**61 - 1))
def test_three_decimals_are_exact_from_text(ns: int) -> None:
    assert clock.from_text(f"{ns // 1000}.{ns % 1000:03}") == ns


@given(st.integers(0, 2**43 * 1000 - 1))
def test_three_decimals_are_exact_from_a_float_below_the_limit(ns: int) -> None:
    written = f"{ns // 1000}.{ns % 1000:03}"
    assert from_float(written) == ns


@given(st.decimals(-(10**12), 10**12, places=6).map(lambda d: f"{d:f}"))
def test_more_decimals_round_to_the_nearest(written: str) -> None:
    assert clock.from_text(written) == by_decimal(written)
    assert abs(from_float(written) - Decimal(written) * 1000) <= 1


@given(st.lists(st.none() | st.integers(-(10**15), 10**15), max_size=5))
def test_integers_are_exact_at_any_size(values: list[int | None]) -> None:
    expected = [NO_TIME if v is None else v * 1000 for v in values]
    assert numbers(values) == expected


@pytest.mark.parametrize(
    ("written", "ns"),
    [
        ("0", 0),
        ("1.5", 1_500),
        ("1e3", 1_000_000),
        ("-1", -1_000),
        ("1.00000000000", 1_000),
        ("1719853884123456.789", 1_719_853_884_123_456_789),
        ("null", NO_TIME),
        ("1e400", NO_TIME),
        ("9" * 30, NO_TIME),
        ('"12"', NO_TIME),
    ],
)
def test_text(written: str, ns: int) -> None:
    assert clock.from_text(written) == ns


@given(st.floats(2**43, 2**60), st.lists(st.none() | st.integers(-(10**20), 10**20)))
def test_a_float_above_the_limit_sends_to_the_text(large: float, others: list[int | None]) -> None:
    assert clock.from_numbers([*others, large]) is None


@pytest.mark.parametrize("value", [2**62, 10**30, 10**400, -(10**30), float("inf"), float("nan")])
def test_what_cannot_be_a_time_is_none(value: float) -> None:
    assert numbers([value, 2, None]) == [NO_TIME, 2_000, NO_TIME]
    assert numbers([value, 2**50]) == [NO_TIME, 2**50 * 1000]


def test_one_epoch_time_makes_the_whole_file_exact() -> None:
    data = text(kernel("a", 1719853884123456, 1), kernel("b", 0, 1))
    data = data.replace(b'"ts": 0', b'"ts": 1719853884123456.001')
    trace = read_bytes(data)
    assert [(k.name, k.start_ns) for k in trace.kernels] == [("a", 0), ("b", 1)]
