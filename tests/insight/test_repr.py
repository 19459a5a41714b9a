"""At Python's prompt a result says what it would print, not all of its fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rung
from handmade import ADD, TILE_A, events, ran
from rung.insight.gate import gate
from tracelib import read

SQUARE = [64, 64]
A = read(*events(ran(TILE_A, "aten::mm", SQUARE, SQUARE)))
B = read(*events(ran(TILE_A, "aten::mm", SQUARE, SQUARE), ran(ADD, "aten::add", SQUARE)))


@pytest.mark.parametrize(
    ("made", "line"),
    [
        (lambda: rung.why(A), "overhead-bound: the GPU works 5.00 µs of each 20.0 µs"),
        (lambda: rung.why(A, B), "fwd takes "),
        (lambda: rung.diff(A, B), "  kernels a forward: 1 -> 2"),
        (lambda: rung.guess(kernels=1).check(A), "The guess holds."),
        (lambda: gate(A, B, "kernels <= +0"), "The gate does not hold."),
    ],
)
def test_a_result_at_the_prompt(made: Callable[[], Any], line: str) -> None:
    found = made()
    assert repr(found) == str(found)
    assert any(said.startswith(line) for said in repr(found).splitlines())
