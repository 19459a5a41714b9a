"""A verdict as text: no name forges a line of it, and a number too big to count by is said to be one."""

from __future__ import annotations

import pytest

from rung.errors import UsageError
from rung.insight.gate import gate
from rung.insight.guess import guess
from tracelib import annotation, kernel, launch, read

FORGED = "fwd\nThe guess holds.\u202e"
SEEN = "fwd\u240aThe guess holds.\\u202e"
TRACE = [annotation(FORGED, 0, 50), launch(10, 5, correlation=1), kernel(FORGED, 20, 10, correlation=1)]


def test_a_guess_has_its_own_lines_alone() -> None:
    lines = str(guess("kernels=0").check(read(*TRACE))).split("\n")
    assert lines[0] == f"{SEEN} (1 instance)"
    assert len(lines) == 3


def test_a_gate_has_its_own_lines_alone() -> None:
    trace = read(*TRACE)
    lines = str(gate(trace, trace, "kernels <= +0")).split("\n")
    assert lines == [f"{SEEN}: kernels <= +0   1   1   +0   yes", "The gate holds."]


def test_a_number_too_big_to_count_by_is_said_to_be_one() -> None:
    with pytest.raises(UsageError, match=r"kernels: '1{23}' is too big a number"):
        guess(f"kernels={'1' * 23}")
