"""Two sequences of names side by side, against the textbook's longest common subsequence."""

from __future__ import annotations

import time
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from rung.insight.aligning import EDITS, matched

NAMES = st.lists(st.sampled_from("abcd"), max_size=14)


def longest(a: list[str], b: list[str]) -> int:
    """Of a subsequence of both, by the table of all prefixes."""
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


@given(NAMES, NAMES)
def test_as_many_match_as_can(a: list[str], b: list[str]) -> None:
    pairs = matched(a, b)
    assert len(pairs) == longest(a, b)
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(i < k and j < m for (i, j), (k, m) in pairwise(pairs))


def test_what_is_gone_lies_where_something_new_is() -> None:
    """A gated MLP of one GEMM name, and the norm before it: the one kernel stands for the first four."""
    a = ["norm", "mm", "gelu", "mm", "mul", "mm", "add"]
    assert matched(a, ["norm", "gate_up", "mm", "add"]) == [(0, 0), (5, 2), (6, 3)]
    assert matched(a, ["norm", "mm", "add"]) == [(0, 0), (1, 1), (6, 2)]  # nothing is new: as it comes


def test_beyond_a_stretch_it_goes_on() -> None:
    """In the middle A has more of a common name than a stretch has edits; both ends still match."""
    ends = ["x", "y", "z"]
    a = [*ends, *["k"] * (3 * EDITS), "w", *ends]
    pairs = matched(a, [*ends, "w", "k", *ends])
    assert pairs[:3] == [(0, 0), (1, 1), (2, 2)]
    assert pairs[-3:] == [(len(a) - 3 + i, 5 + i) for i in range(3)]


def test_nothing_in_common_takes_no_square_of_time() -> None:
    """40,000 names against themselves backwards: 0.8 s; each with each is 1.6 billion steps."""
    layer = ["mm", "mm", "gelu", "mul", "down"] * 8_000
    started = time.process_time()
    pairs = matched(layer, layer[::-1])
    assert len(pairs) > len(layer) / 2
    assert time.process_time() - started < 10
