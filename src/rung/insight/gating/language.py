"""The language of gates: `kernels <= +0`, `gpu_busy <= +5%`, `same:gemm`. See docs/ci.md."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from rung.errors import UsageError
from rung.insight.guessing.language import GLOBBED, UNITS, split_key, split_line, split_value
from rung.insight.guessing.places import Place
from rung.insight.guessing.wants import KINDS, amount, quoted, shown

NO_NEW_FAMILY, SAME = "no-new-family", "same"
FORM = "a difference, such as 'kernels <= +0' or 'gpu_busy <= +5%'"
SAMES = ("kernels", "order", *KINDS, "family:NAME", "kernel:GLOB")
_WORD = re.compile(rf"({NO_NEW_FAMILY}|{SAME})(?:\s*[:\s]\s*(.*))?", re.DOTALL)
_SIGNED = re.compile(r"([+-])\s*([0-9][0-9.]*)\s*(%|[a-zµμ]*)")
Unit = Literal["count", "time", "share"]


@dataclass(frozen=True, slots=True)
class Delta:
    """How much more NEW may be than BASE: a number of things, ns, or a share of BASE (of a share: points)."""

    comparison: str
    value: Fraction
    relative: bool
    unit: Unit
    text: str

    def limit(self, base: int) -> Fraction:
        """The difference that is compared with, for this value of BASE."""
        return base * self.value if self.relative else self.value

    def __str__(self) -> str:
        return f"{self.comparison} {self.text}"


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a gate. Without a `delta` it is `same` or `no-new-family`, and `pattern` says of what."""

    subject: str
    pattern: str | None
    delta: Delta | None = None
    region: str | None = None
    place: Place | None = field(default=None, compare=False)

    @property
    def key(self) -> str:
        return self.subject if self.pattern is None else f"{self.subject}:{self.pattern}"

    def __str__(self) -> str:
        if self.delta is None:
            return self.key
        key = self.subject if self.pattern is None else f"{self.subject}:{quoted(self.pattern)}"
        return f"{key} {self.delta}"


def parse(text: str, region: str | None = None) -> Rule:
    """Read one line of a gate as written on the command line.

    Raises:
        UsageError: the key is unknown, or the value is no difference.
    """
    if word := _WORD.fullmatch(text.strip()):
        return _about(word[1], (word[2] or "").strip(), region)
    (subject, pattern), comparison, value = split_line(text, FORM)
    return _compared(subject, pattern, comparison, value, region)


def rules(key: str, value: object, region: str | None = None) -> list[Rule]:
    """Read what a key of a gate file says: a comparison as text; for `same` and `no-new-family` also a list.

    Raises:
        UsageError: the key is unknown, or the value does not fit it.
    """
    if key in (SAME, NO_NEW_FAMILY):
        given = value if isinstance(value, list) else ["" if value is True else value]
        if not given or not all(isinstance(one, str) for one in given):
            raise UsageError(f"{key} takes a text or a list of texts, such as 'gemm', not {shown(value)}")
        return [_about(key, str(one).strip(), region) for one in given]
    subject, pattern = split_key(key)
    if not isinstance(value, str):
        raise UsageError(f"{key} takes a difference as text, such as '<= +0', not {shown(value)}")
    return [_compared(subject, pattern, *split_value(value), region)]


def _about(word: str, what: str, region: str | None) -> Rule:
    if word == NO_NEW_FAMILY:
        return Rule(word, what or None, region=region)
    head = what.partition(":")[0]
    if what in ("kernels", "order", *KINDS) or (head in ("family", "kernel") and what != head):
        return Rule(word, what, region=region)
    raise UsageError(f"same needs to know what: {', '.join(SAMES)}, as in same:gemm; not {shown(what)}")


def _compared(subject: str, pattern: str | None, comparison: str, text: str, region: str | None) -> Rule:
    key = subject if pattern is None else f"{subject}:{pattern}"
    if subject in ("dtype", "order"):
        raise UsageError(f"{key} has no difference to compare; a gate knows same:order, a guess knows dtype")
    unit = UNITS.get(subject, "count") if subject not in GLOBBED else "count"
    if comparison == "in" or (unit != "count" and comparison in ("==", "=", "!=")):
        raise UsageError(
            f"{key}: a gate compares {'times ' * (unit != 'count')}with < <= > >=, not {comparison}"
        )
    return Rule(subject, pattern, _delta(key, comparison, text.strip(), unit), region)


def _delta(key: str, comparison: str, text: str, unit: Unit) -> Delta:
    match = _SIGNED.fullmatch(text)
    if match is None:
        raise UsageError(
            f"{key}: a gate compares differences, such as '<= +0' or '<= +5 %', not {shown(text)}"
        )
    sign, number, suffix = match.groups()
    relative = suffix == "%" and unit != "share"
    if suffix == "%":
        if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,12})?", number):
            raise UsageError(f"{key}: {shown(text)} is no number of percent")
        value = Fraction(number) / 100
    else:
        value = amount(key, "==", number + suffix, unit).bounds[0]
    text = f"{sign}{number}{' ' * bool(suffix)}{suffix}"
    return Delta(
        "==" if comparison == "=" else comparison, value if sign == "+" else -value, relative, unit, text
    )
