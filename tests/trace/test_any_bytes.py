"""Whatever the bytes, a trace comes out of them or one clear error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rung.errors import UnreadableTraceError
from rung.trace import Trace
from tracelib import (
    BACKWARD,
    Event,
    annotation,
    arrow,
    copy,
    document,
    kernel,
    launch,
    op,
    read,
    read_bytes,
    step,
    text,
)

CAUSE, WORK = op("aten::mm", 10, 30, **{"Input Dims": [[2, 3], []]}), kernel("k", 30, 20, 11)
WHOLE: list[Event] = [
    step(1, 0, 100),
    annotation("fwd", 5, 80, tid=BACKWARD),
    CAUSE,
    launch(20, 5, 11),
    WORK,
    copy(60, 5),
    *arrow("fwdbwd", 1, CAUSE, WORK),
]


def look_at_everything(trace: Trace) -> None:
    """Touch what a user can reach; arithmetic on times must hold whatever was read."""
    for kernel_ in trace.kernels:
        trace.chain(kernel_)
        assert kernel_.args is not None
        assert kernel_.dur_ns >= 0
    for op_ in trace.ops:
        assert (op_.dur_ns >= 0, op_.args is not None, op_.shapes is not None) == (True, True, True)
        assert all(child.parent == op_ for child in op_.children)
    for region in trace.regions:
        assert 0 <= region.gpu_busy_ns <= region.gpu_span_ns <= region.wall_ns
        assert 0 <= region.gpu_idle_share <= 1
    assert trace.span_ns >= 0
    assert (trace.device, trace.rank, trace.header.metadata) is not None
    assert len({warning.code for warning in trace.warnings}) == len(trace.warnings)


def read_or_refuse(data: bytes) -> None:
    try:
        trace = read_bytes(data)
    except UnreadableTraceError:
        return
    look_at_everything(trace)


@given(st.binary(min_size=1, max_size=200))
@example(b"[[[[")
@example(b'[{"ph":')
@example(b'{"traceEvents":[{"ph":"X"}]')
@example(b'{"traceEvents": [}')
@example(b'{"traceEvents":[{"ph":"X","ts":1e400}]}')
@example(b'[{"ph":"B"},{"ph":"E"},{"ph":"X"}]')
def test_any_bytes(data: bytes) -> None:
    read_or_refuse(data.lstrip() or b"0")


@given(st.text('{}[]",:\\ptrsnamedu0159.-e \n', min_size=1, max_size=120))
def test_any_text_of_the_bytes_that_json_is_made_of(inside: str) -> None:
    read_or_refuse(b'{"traceEvents": [' + inside.encode())


DATA = text(*WHOLE)
edits = st.lists(
    st.tuples(st.integers(0, len(DATA)), st.integers(0, 30), st.binary(max_size=6)), min_size=1, max_size=4
)


@settings(max_examples=200)
@given(edits)
def test_a_trace_with_pieces_replaced(pieces: list[tuple[int, int, bytes]]) -> None:
    data = DATA
    for at, length, new in pieces:
        data = data[:at] + new + data[at + length :]
    read_or_refuse(data.lstrip() or b"0")


numbers = st.integers() | st.floats() | st.just(10**400) | st.integers(-(2**63), 2**63)
anything = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
members = ["ph", "cat", "name", "pid", "tid", "ts", "dur", "id", "args", "bp"]
arguments = ["correlation", "stream", "device", "graph id", "sycl queue", "Input Dims", "External id"]


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.sampled_from(members), anything), max_size=4),
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from(arguments), anything), max_size=4),
)
@example([(0, "ts", 10**400)], [])
@example([(4, "ts", 2**63), (4, "dur", 2**63)], [(4, "correlation", 10**400)])
@example([(3, "args", "text"), (4, "args", None), (2, "args", [1])], [])
@example([(0, "name", "ProfilerStep#99999999999999999999")], [])
def test_members_of_any_type(changes: list[tuple[int, str, Any]], inside: list[tuple[int, str, Any]]) -> None:
    events = json.loads(json.dumps(WHOLE))
    for row, key, value in inside:
        events[row]["args"][key] = value
    for row, key, value in changes:
        events[row][key] = value
    look_at_everything(read_bytes(text(*events)))


@pytest.mark.parametrize("key", ["deviceProperties", "distributedInfo", "traceName", "rung"])
@given(value=anything)
def test_a_header_of_any_shape(key: str, value: object) -> None:
    whole = document(*WHOLE, device=None, **{key: value})
    trace = read_bytes(json.dumps(whole).encode())
    look_at_everything(trace)
    assert len(trace.kernels) == 2


def test_a_name_of_a_megabyte() -> None:
    name = "k" * 2**20
    assert read(kernel(name, 0, 1)).kernels[0].name == name
    torn = read_bytes(text(kernel(name, 0, 1), op("torn\x01", 5, 1)).replace(b"\\u0001", b"\x01"))
    assert torn.kernels[0].name == name


def test_arguments_nested_beyond_reason() -> None:
    deep = b"[" * 50_000 + b"]" * 50_000
    data = text(op("deep", 0, 1, x="HERE"), kernel("k", 5, 1)).replace(b'"HERE"', deep)
    trace = read_bytes(data)
    assert [k.name for k in trace.kernels] == ["k"]
    assert trace.skipped_events == 1


def test_names_with_zero_bytes_and_halves_of_characters() -> None:
    data = text(kernel("a\0b", 0, 1), kernel("\ud83d\ude00", 5, 1), kernel("half \ud83d", 10, 1))
    assert [k.name for k in read_bytes(data).kernels] == ["a\0b", "\U0001f600", "half \\ud83d"]


def test_a_member_that_comes_twice_counts_as_written_last() -> None:
    data = text(kernel("first", 0, 1)).replace(b'"name": "first"', b'"name": "first", "name": "last"')
    assert [k.name for k in read_bytes(data).kernels] == ["last"]


def test_arguments_that_are_no_object_are_none() -> None:
    data = text(op("a", 0, 1), kernel("k", 5, 1)).replace(b'"args": {}', b'"args": "text"')
    trace = read_bytes(data)
    assert (trace.ops[0].args, trace.ops[0].shapes) == ({}, [])
