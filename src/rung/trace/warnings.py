"""What was skipped, repaired or doubtful in a trace: data, part of the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Code = Literal[
    "control-character",
    "bad-utf8",
    "bad-escape",
    "bad-number",
    "bad-field",
    "skipped-event",
    "truncated",
    "two-writers",
    "unfinished-event",
    "zero-time",
    "negative-duration",
    "clipped-duration",
    "overlap",
    "crossing-spans",
    "ambiguous-link",
    "unlinked",
    "launch-without-kernel",
    "clock-skew",
    "id-collision",
    "no-steps",
    "no-gpu",
    "no-device-properties",
]

DAMAGE: frozenset[Code] = frozenset(
    {
        "control-character",
        "bad-utf8",
        "bad-escape",
        "bad-number",
        "bad-field",
        "skipped-event",
        "truncated",
        "two-writers",
    }
)
"""Codes that mean the file itself was hurt: a guess about such a trace is not judged by default."""


@dataclass(frozen=True, slots=True)
class Warning:
    """One code, how often it applied, where it first did (a byte of the inflated text), and a sentence."""

    code: Code
    count: int
    offset: int | None
    message: str
