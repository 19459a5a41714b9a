"""Nesting and unions of spans, against references that try every pair."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from rung.trace.intervals import union_ns
from rung.trace.nesting import nest
from tracelib import annotation, call, codes, frame, kernel, launch, op, read

Spans = list[tuple[int, int, int]]
"""(start, duration, thread)"""

few_spans: st.SearchStrategy[Spans] = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 12), st.integers(0, 1)), max_size=12
)


def columns(spans: Spans) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    start, dur, thread = np.array(spans, dtype=np.int64).reshape(-1, 3).T
    return start, start + dur, thread


def by_trying_every_pair(spans: Spans) -> tuple[list[int], int]:
    """Parents and crossings: the innermost of all spans that were open, each clamped to its parent's end."""
    order = sorted(range(len(spans)), key=lambda i: (spans[i][0], -spans[i][1], i))
    end = [start + dur for start, dur, _ in spans]
    parent = [-1] * len(spans)
    crossings = 0
    for place, i in enumerate(order):
        start, _, thread = spans[i]
        for j in order[:place]:
            outer_start, _, outer_thread = spans[j]
            is_open = start < end[j] or (outer_start == end[j] == start)
            if outer_thread == thread and is_open:
                parent[i] = j  # the last one in order is the innermost
        if parent[i] >= 0 and end[i] > end[parent[i]]:
            end[i] = end[parent[i]]
            crossings += 1
    return parent, crossings


@given(few_spans)
@example([(0, 3, 0), (2, 3, 0), (4, 3, 0)])  # a staircase: the second is clamped, so the third is free
def test_parents_and_crossings(spans: Spans) -> None:
    parent, crossings = by_trying_every_pair(spans)
    nesting = nest(*columns(spans))
    assert nesting.parent.tolist() == parent
    assert nesting.crossings == crossings


@given(few_spans, st.integers(0, 2**12 - 1))
def test_depth_and_nearest_follow_the_parents(spans: Spans, mask: int) -> None:
    wanted = [bool(mask >> i & 1) for i in range(len(spans))]
    nesting = nest(*columns(spans))
    for i, depth in enumerate(nesting.depth.tolist()):
        line = []
        above = int(nesting.parent[i])
        while above >= 0:
            line.append(above)
            above = int(nesting.parent[above])
        assert depth == len(line)
        nearest = next((j for j in line if wanted[j]), -1)
        assert nesting.nearest(np.array(wanted, dtype=bool))[i] == nearest


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), max_size=12))
def test_union(intervals: list[tuple[int, int]]) -> None:
    ticks = {tick for start, dur in intervals for tick in range(start, start + dur)}
    start, dur = np.array(intervals, dtype=np.int64).reshape(-1, 2).T
    assert union_ns(start, start + dur) == len(ticks)


def test_of_equal_spans_the_call_lies_in_the_op_whatever_their_order() -> None:
    trace = read(
        launch(10, 5, correlation=1), op("aten::relu", 10, 5), annotation("a", 10, 5), kernel("k", 20, 1, 1)
    )
    assert [k.op.name if k.op else None for k in trace.kernels] == ["aten::relu"]


def test_a_range_that_a_python_frame_opens_outlives_the_frame() -> None:
    enter = frame("<built-in method _record_function_enter_new>", 0, 5)
    trace = read(enter, op("outer", 4, 100), op("aten::mm", 50, 10), call("cudaMalloc", 51, 1))
    outer, mm = trace.ops
    assert mm.parent == outer
    assert codes(trace)["crossing-spans"] == 1


def test_an_op_that_outlasts_its_frame_by_clock_noise_is_clamped() -> None:
    trace = read(frame("f", 0, 50), op("outer", 1, 49.5), op("next", 50.1, 10), op("inner", 2, 3))
    outer, inner, following = trace.ops
    assert (outer.dur_ns, inner.parent, following.parent) == (49_500, outer, None)


def test_children_are_direct_and_in_order() -> None:
    trace = read(op("a", 0, 100), op("c", 50, 10), op("b", 10, 20), op("b.inner", 12, 2), op("d", 200, 5))
    (a,) = [o for o in trace.ops if o.name == "a"]
    assert [o.name for o in a.children] == ["b", "c"]
    assert [o.name for o in a.children[0].children] == ["b.inner"]
    assert len(trace.ops[-1].children) == 0
