"""The language of expectations: `kernels=5`, `op:aten::addmm>=1`, `gpu_busy<250us`. See docs/guesses.md."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from typing import cast

from rung.errors import UsageError
from rung.insight.guessing.devices import EVERYWHERE, Scope
from rung.insight.guessing.places import Place
from rung.insight.guessing.tolerance import Near, is_near, near
from rung.insight.guessing.wants import (
    KINDS,
    QUOTED,
    Comparison,
    Unit,
    Want,
    amount,
    dtype_want,
    order_from,
    order_in,
    quoted,
    shown,
    unquoted,
)

UNITS: dict[str, Unit] = {
    "kernels": "count",
    **dict.fromkeys(KINDS, "count"),
    "copies": "count",
    "memsets": "count",
    "launches": "count",
    "gpu_busy": "time",
    "cpu": "time",
    "gpu_idle_share": "share",
}
GLOBBED = {"family": "family:NAME", "op": "op:GLOB", "kernel": "kernel:GLOB"}
KEYS = (*UNITS, *GLOBBED.values(), "dtype", "order")
FORM = "KEY=VALUE, such as kernels=5 or 'gemm >= 3'"

_COMPARISON = r"==|!=|<=|>=|=|<|>"
_NAMED = re.compile(
    rf"(?P<subject>\w+)\s*:\s*(?P<pattern>{QUOTED})\s*(?P<cmp>{_COMPARISON}|in\b)(?P<value>.*)", re.DOTALL
)
_ORDER = re.compile(r"(?P<key>order)\s*(?P<cmp>==|=)(?P<value>.*)", re.DOTALL)
# The last comparison counts, and the longest there: kernel names hold `<`, `>` and `=` themselves.
_PLAIN = re.compile(rf"(?P<key>.*?)\s*(?P<cmp>{_COMPARISON}|(?<=\s)in(?=\s))(?P<value>[^<>=!]*)", re.DOTALL)
_VALUE = re.compile(rf"(?P<cmp>{_COMPARISON}|in(?=\s))?(?P<value>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Expectation:
    """One line of a guess: what is measured (`subject`, and a glob where it needs one), and what is wanted.

    `region` is a glob over region names; None means the outermost ones. `scope` says on which devices it
    counts, `baseline` names the trace that a tolerance is about, `place` says where the line is written.
    """

    subject: str
    pattern: str | None
    want: Want | Near
    region: str | None = None
    scope: Scope = EVERYWHERE
    baseline: str | None = None
    place: Place | None = field(default=None, compare=False)

    @property
    def key(self) -> str:
        return self.subject if self.pattern is None else f"{self.subject}:{self.pattern}"

    def __str__(self) -> str:
        """As it can be written on the command line: `parse(str(e))` gives `e` back, but for the region."""
        key = self.subject if self.pattern is None else f"{self.subject}:{quoted(self.pattern)}"
        return f"{key} {self.want}"


def parse(text: str, region: str | None = None) -> Expectation:
    """Read one expectation as written on the command line.

    Raises:
        UsageError: there is no comparison, the key is unknown, or the value does not fit the key.
    """
    key, comparison, value = split_line(text)
    return _expect(*key, comparison, value, region)


def split_line(text: str, form: str = FORM) -> tuple[tuple[str, str | None], str, str]:
    """`op:aten::mm >= 1` as key (subject and glob), comparison and value. Raises as `parse`.

    `form` is what to write instead of a line that compares nothing: a gate knows other values.
    """
    text = text.strip()
    if named := _NAMED.fullmatch(text):
        return split_key(f"{named['subject']}:{unquoted(named['pattern'])}"), named["cmp"], named["value"]
    found = _ORDER.fullmatch(text) or _PLAIN.fullmatch(text)
    if found is None:
        raise UsageError(f"{shown(text)} compares nothing: write {form}")
    subject, pattern = split_key(found["key"])
    if pattern is not None:
        _refuse_doubt(text, pattern, found["cmp"])
    return (subject, pattern), found["cmp"], found["value"]


def expect(key: str, value: object, region: str | None = None) -> Expectation:
    """Read one expectation whose key stands apart from its value, as in a file or a Python call.

    `value` is a number (`== value`), a comparison as text (`"3"`, `">= 2"`), or, for `order`, a list.

    Raises:
        UsageError: the key is unknown, or the value does not fit it.
    """
    subject, pattern = split_key(key)
    if isinstance(value, list | tuple) and subject == "order":
        return Expectation(subject, None, order_from(value), region)
    if isinstance(value, bool | list | tuple | dict) or value is None:
        raise UsageError(f"{key} takes a number or a comparison such as '>= 2', not {shown(value)}")
    text = f"{Decimal(str(value)):f}" if isinstance(value, float) else str(value)
    return _expect(subject, pattern, *split_value(text), region)


def split_value(text: str) -> tuple[str, str]:
    """`>= 2` as comparison and value; without a comparison it is `==`."""
    match = cast("re.Match[str]", _VALUE.fullmatch(text.strip()))
    return match["cmp"] or "==", match["value"]


def _expect(subject: str, pattern: str | None, comparison: str, text: str, region: str | None) -> Expectation:
    sign = cast(Comparison, "==" if comparison == "=" else comparison)
    text = text.strip()
    want: Want | Near
    if subject == "dtype":
        want = dtype_want(sign, text)
    elif subject == "order":
        if sign != "==":
            raise UsageError(f"order is compared with ==, not {sign}")
        want = order_in(text)
    else:
        key = subject if pattern is None else f"{subject}:{pattern}"
        unit = UNITS.get(subject, "count")
        tolerant = unit == "time" and is_near(text)
        want = near(key, sign, text) if tolerant else amount(key, sign, text, unit)
    return Expectation(subject, pattern, want, region)


def split_key(key: str) -> tuple[str, str | None]:
    """What is measured, and the glob after the colon if any. Raises UsageError for an unknown key."""
    key = key.strip()
    if key in UNITS or key in ("dtype", "order"):
        return key, None
    subject, colon, pattern = key.partition(":")
    subject, pattern = subject.strip(), pattern.lstrip()
    if subject not in GLOBBED or not colon:
        raise UsageError(_unknown(key))
    if not pattern:
        raise UsageError(f"{subject}: needs a name or glob after the colon, as in {GLOBBED[subject]}")
    return subject, pattern


def _refuse_doubt(text: str, pattern: str, comparison: str) -> None:
    if pattern[0] in "\"'":
        raise UsageError(f"{shown(text)}: the quote is not closed")
    if comparison.startswith(">") and pattern.count("<") > pattern.count(">"):
        raise UsageError(f'{shown(text)} can be read two ways: put the name in quotes, kernel:"NAME" == 1')


def _unknown(key: str) -> str:
    return f"unknown key {shown(key)}.{_nearest(key)} Keys: {', '.join(KEYS)}"


def _nearest(key: str) -> str:
    head, colon, rest = key.partition(":")
    if "::" in key and key.partition("::")[0] == head:
        return f" Did you mean 'op:{key}'?"
    if colon and (near := get_close_matches(head, GLOBBED, 1, 0.5)):
        return f" Did you mean '{near[0]}:{rest}'?"
    if near := get_close_matches(key.lower(), [*UNITS, *GLOBBED, "dtype", "order"], 1, 0.5):
        return f" Did you mean '{GLOBBED.get(near[0], near[0])}'?"
    return f" Did you mean 'kernel:{key}'?" if "*" in key or "_" in key else ""
