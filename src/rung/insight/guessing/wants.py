"""What is wanted of a measured value: an amount, a dtype, an order. Each accepts or refuses, and prints."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any, Literal, cast, get_args

from rung.errors import UsageError
from rung.names import Kind
from rung.names.dtypes import dtype_of

Comparison = Literal["==", "!=", "<", "<=", ">", ">=", "in"]
Unit = Literal["count", "time", "share"]
KINDS: tuple[str, ...] = get_args(Kind)

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9}
_COUNT = re.compile(r"[0-9]{1,18}")
_TIME = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*(ns|us|µs|μs|ms|s)")
_SHARE = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,12})?)\s*(%?)")
_TAKES = {
    "count": "a whole number, such as 5",
    "time": "a time with its unit, such as '250 us' (ns, us, ms, s; no finer than 1 ns)",
    "share": "a share from 0 to 1 or in %, such as '20 %'",
}
QUOTED = r'"(?:[^"\\]|\\.)*"|' + r"'(?:[^'\\]|\\.)*'"
_ITEM = re.compile(rf"\s*(?:({QUOTED})|([^,\"']*))\s*(,|$)", re.DOTALL)
_DTYPE_WORDS = {"float64": "fp64", "float32": "fp32", "float16": "fp16"}


@dataclass(frozen=True, slots=True)
class Amount:
    """A count, a time in integer ns, or a share as an exact fraction; `in` has two bounds, both included."""

    comparison: Comparison
    bounds: tuple[Fraction, ...]
    unit: Unit

    def accepts(self, got: int | Fraction) -> bool:
        if self.comparison == "in":
            return self.bounds[0] <= got <= self.bounds[1]
        return bool(COMPARE[self.comparison](got, self.bounds[0]))

    def __str__(self) -> str:
        return f"{self.comparison} {'..'.join(_written(bound, self.unit) for bound in self.bounds)}"


@dataclass(frozen=True, slots=True)
class DtypeWant:
    """`==`: every GEMM computes in `dtype`; `!=`: none does."""

    comparison: Comparison
    dtype: str

    def accepts(self, got: Sequence[str]) -> bool:
        return set(got) == {self.dtype} if self.comparison == "==" else self.dtype not in got

    def __str__(self) -> str:
        return f"{self.comparison} {self.dtype}"


@dataclass(frozen=True, slots=True)
class Order:
    """One item a kernel, in the order they ran: a kind or a glob; `...` is any number of kernels, or none."""

    items: tuple[str, ...]

    def accepts(self, got: Sequence[tuple[str, str]]) -> bool:
        """`got` holds each kernel's kind and name."""
        reached = {0}
        for item in self.items:
            if item == "...":
                reached = set(range(min(reached), len(got) + 1)) if reached else set()
                continue
            reached = {
                at + 1
                for at in reached
                if at < len(got) and (got[at][0] == item if item in KINDS else fnmatchcase(got[at][1], item))
            }
        return len(got) in reached

    def __str__(self) -> str:
        return "== " + ", ".join(quoted(item) for item in self.items)


Want = Amount | DtypeWant | Order


def amount(key: str, comparison: Comparison, text: str, unit: Unit) -> Amount:
    """Read the value of a count, time or share; `a..b` for `in`, where `b`'s unit serves both."""
    if comparison != "in":
        if ".." in text:
            raise UsageError(f"{key}: a range is written 'in {text}'")
        return Amount(comparison, (_number(key, text, unit),), unit)
    low, dots, high = text.partition("..")
    if not dots:
        raise UsageError(f"{key}: 'in' takes a range, such as 'in 2..4', not {shown(text)}")
    suffix = re.search(r"[^0-9.\s]*$", high)
    if unit != "count" and suffix and re.fullmatch(r"[0-9.]+", low.strip()):
        low += suffix[0]
    bounds = (_number(key, low, unit), _number(key, high, unit))
    if bounds[0] > bounds[1]:
        raise UsageError(f"{key}: the range {shown(text)} is empty, its first bound is the larger one")
    return Amount(comparison, bounds, unit)


def dtype_want(comparison: Comparison, text: str) -> DtypeWant:
    word = text.removeprefix("torch.")
    dtype = _DTYPE_WORDS.get(word) or dtype_of(word)
    if dtype is None:
        raise UsageError(
            f"dtype: {shown(text)} is no dtype; such are bf16, fp16, fp32, tf32, fp64, fp8_e4m3, int8"
        )
    if comparison not in ("==", "!="):
        raise UsageError(f"dtype is compared with == or !=, not {comparison}")
    return DtypeWant(comparison, dtype)


def order_from(items: Sequence[object]) -> Order:
    for item in items:
        if not isinstance(item, str) or not item:
            raise UsageError(
                f"order takes a list of kinds and globs, such as ['gemm', 'triton_*'], not {shown(item)}"
            )
    if not items:
        raise UsageError("order is empty: name the kernels' kinds in order, such as gemm, gemm, pointwise")
    return Order(tuple(cast(Sequence[str], items)))


def order_in(text: str) -> Order:
    """Read `gemm, "a, b*", pointwise`, in brackets or not."""
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    items: list[str] = []
    at = 0
    while True:
        match = _ITEM.match(text, at)
        if match is None:
            raise UsageError(
                f"order: {shown(text)} is no list; a name with a comma or a quote stands in quotes"
            )
        items.append(unquoted(match[1]) if match[1] else match[2].strip())
        if not match[3]:
            return order_from(items if items != [""] else [])
        at = match.end()


def shown(value: object) -> str:
    """A user's text in a message, on one line and not without end."""
    return cut(repr(value), 80)


def cut(text: str, most: int = 100) -> str:
    """Kernel names run to thousands of characters."""
    return text if len(text) <= most else text[: most - 3] + "..."


def quoted(text: str) -> str:
    """As it has to be written where quotes, commas, comparisons or spaces would mislead."""
    if re.fullmatch(r"[^\s\"'\\,<>=!\[\]]+", text):
        return text
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)


def _number(key: str, text: str, unit: Unit) -> Fraction:
    text = text.strip()
    value: Fraction | None = None
    if unit == "count" and _COUNT.fullmatch(text):
        value = Fraction(text)
    elif unit == "time" and (match := _TIME.fullmatch(text)):
        value = Fraction(match[1]) * _NS[match[2]]
        value = value if value.denominator == 1 else None
    elif unit == "share" and (match := _SHARE.fullmatch(text)):
        value = Fraction(match[1]) / (100 if match[2] else 1)
        value = value if value <= 1 else None
    if value is None and unit == "count" and re.fullmatch("[0-9]+", text):
        raise UsageError(f"{key}: {shown(text)} is too big a number to count by: it has more than 18 digits")
    if value is None:
        raise UsageError(f"{key} takes {_TAKES[unit]}, not {shown(text)}")
    return value


def _written(value: Fraction, unit: Unit) -> str:
    if unit == "share":
        percent = value * 100
        return f"{Decimal(percent.numerator) / Decimal(percent.denominator):f} %"
    if unit == "time":
        name = next(name for name in ("s", "ms", "us", "ns") if value % _NS[name] == 0) if value else "ns"
        return f"{value / _NS[name]} {name}"
    return str(value)
