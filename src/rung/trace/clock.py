"""Times of a trace in integer nanoseconds.

Kineto writes microseconds with three decimals. A float64 tells such numbers apart below 2**43 us = 101 days;
an epoch timestamp is larger, so it is converted from its digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

NO_TIME = np.iinfo(np.int64).min
"""Marks a time that is missing or cannot be a time."""

FLOAT_LIMIT_US = 2.0**43
"""Above it neighbouring float64 numbers are 2 ns apart."""

LIMIT_NS = 2**61
"""The year 2043. Ends of spans, doubled, still fit an int64."""


def from_numbers(values: Sequence[float | None]) -> Ints | None:
    """Microseconds as decoded -> integer ns, `NO_TIME` where there is none.

    None if a float among them is too large to tell nanoseconds apart, so that its text must be looked at. An
    `int` was decoded exactly, however large.
    """
    if set(map(type, values)) == {int}:
        return _from_integers(values)
    numbers = as_floats(values)
    if np.isinf(numbers).any():
        return _one_by_one(values)
    known = np.isfinite(numbers)
    if (np.abs(numbers[known]) < FLOAT_LIMIT_US).all():
        ns = np.full(len(numbers), NO_TIME, dtype=np.int64)
        ns[known] = np.rint(numbers[known] * 1000).astype(np.int64)
        return ns
    exact = np.array([0 if v is None else v for v in values])
    if exact.dtype != np.int64 or (np.abs(numbers[known]) >= LIMIT_NS / 1000).any():
        return _one_by_one(values)
    return np.where(known, exact * 1000, NO_TIME)


def _from_integers(values: Sequence[float | None]) -> Ints | None:
    """Exact, and the way of all recordings in whole microseconds."""
    try:
        us = np.array(values, dtype=np.int64)
    except OverflowError:
        return _one_by_one(values)
    in_time = (us < LIMIT_NS // 1000) & (us > -LIMIT_NS // 1000)
    return us * 1000 if in_time.all() else _one_by_one(values)


def as_floats(values: Sequence[float | None]) -> NDArray[np.float64]:
    """The nearest float64 of each number: nan for None, infinity for what is too large."""
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:  # an int of more than 308 digits
        return np.array([_float(v) for v in values], np.float64)


def _float(value: float | None) -> float:
    try:
        return np.nan if value is None else float(value)
    except OverflowError:
        return np.inf


def _one_by_one(values: Sequence[float | None]) -> Ints | None:
    if any(isinstance(v, float) and FLOAT_LIMIT_US <= abs(v) < np.inf for v in values):
        return None
    return np.array([_from_number(v) for v in values], dtype=np.int64)


def _from_number(value: float | None) -> int:
    if value is None or (isinstance(value, float) and not np.isfinite(value)):
        return int(NO_TIME)
    ns = round(value * 1000)
    return ns if abs(ns) < LIMIT_NS else int(NO_TIME)


def from_text(text: str) -> int:
    """The text of a JSON number of microseconds -> integer ns, rounded to nearest; `NO_TIME` for `null`."""
    whole, dot, fraction = text.partition(".")
    if dot and len(fraction) <= 3 and fraction.isdigit() and whole.isdigit():
        ns = int(whole + fraction.ljust(3, "0"))
    else:
        try:
            ns = int((Decimal(text) * 1000).to_integral_value())
        except (InvalidOperation, OverflowError, ValueError):
            return int(NO_TIME)
    return ns if abs(ns) < LIMIT_NS else int(NO_TIME)
