"""Whatever a trace holds, why it takes its time is told without an error, and no cost exceeds the time."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

import rung
import tracelib
from anything import event, length, number, time, weird
from rung.insight.why import Why
from rung.show import regression, why
from rung.show.as_json import encode
from rung.trace import Trace
from shown import shown

CALLS = ("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaMalloc", "cudaFree", "cudaGetDevice")
calls = st.one_of(
    st.builds(tracelib.call, st.sampled_from(CALLS) | weird, time, length),
    st.builds(lambda n, s, d: tracelib.span("overhead", n, s, d), weird, time, length),
    st.builds(lambda s, d, c: tracelib.call("cudaMemcpyAsync", s, d, correlation=c), time, length, number),
)
traces = st.lists(event | calls, min_size=1, max_size=30).map(lambda events: tracelib.read(*events))


@settings(max_examples=150, deadline=None)
@given(traces)
def test_one(trace: Trace) -> None:
    found = rung.why(trace)
    assert all(0 <= one.share <= 1 and one.cost_ns >= 0 for one in found.findings)
    assert len([*found.costs, *found.notes, *found.explanations]) == len(found.findings)
    for everything in (False, True):
        assert "\x1b" not in shown(why.page(found, everything=everything))
    assert json.loads(encode(why.as_json(found)))["verdict"] == found.verdict
    assert "\x1b" not in str(found)


@settings(max_examples=100, deadline=None)
@given(traces, traces)
def test_two(a: Trace, b: Trace) -> None:
    found = rung.why(a, b)
    assert not isinstance(found, Why)
    assert found.wall.delta_ns == found.gpu.delta_ns + found.waiting_delta_ns
    assert "\x1b" not in shown(regression.page(found))
    assert "\x1b" not in str(found)
    json.loads(encode(regression.as_json(found)))


@settings(max_examples=50, deadline=None)
@given(traces)
def test_nothing_makes_a_trace_slower_than_itself(trace: Trace) -> None:
    found = rung.why(trace, trace)
    assert not isinstance(found, Why)
    assert (found.culprits, found.appeared, found.vanished) == ((), (), ())
