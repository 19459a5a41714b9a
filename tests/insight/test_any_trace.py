"""Whatever a trace holds, it is explained, compared and shown without an error, and what is said adds up."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import given, settings

from anything import traces
from rung.insight.bound import bound
from rung.insight.compare import compare
from rung.insight.diff import describe
from rung.insight.findings import examine, explanations, findings
from rung.insight.forward import chosen, forward, instances
from rung.insight.narrate import changed
from rung.insight.tree import Node, tree
from rung.show import as_json
from rung.show.diff import SideBySide, headings, verdict
from rung.show.read import report
from rung.trace import Trace
from shown import shown


def total(node: Node) -> int:
    return node.times * (len(node.kernels) + sum(map(total, node.children)))


@settings(max_examples=150, deadline=None)
@given(traces)
def test_any_trace_is_explained(trace: Trace) -> None:
    found = forward(trace)
    of_region = instances(trace, found.region)
    assert len(of_region) == found.instances >= found.alike >= 1
    case = examine(trace)
    seen = findings(case)
    assert all(one.title and one.advice and 0 <= one.share <= 1 for one in seen)
    assert {one.id for one in explanations(case)} <= {one.id for one in seen}
    json.loads(as_json.encode({"evidence": [dict(one.evidence) for one in seen]}))
    assert 0 <= found.gpu_idle_share <= 1
    limit = bound(found)
    assert (limit.limit == "no-gpu") is (found.gpu_busy_ns.median == 0)
    grown = tree(found.example)
    assert sum(map(total, grown.nodes)) + len(grown.loose) == len(found.rows)
    text = shown(report(trace, [found], grown))
    assert "\x1b" not in text
    encoded = as_json.encode(as_json.trace_json(trace, *chosen(trace, None, None)))
    assert len(json.loads(encoded)["kernels"]) == len(trace.kernels)


@settings(max_examples=150, deadline=None)
@given(traces, traces)
def test_any_two_are_compared(one: Trace, other: Trace) -> None:
    a, b = forward(one), forward(other)
    diff = describe(a, b)
    names_a, names_b = Counter(row.name for row in a.rows), Counter(row.name for row in b.rows)
    assert Counter(diff.same) + Counter(diff.gone) == names_a
    assert Counter(diff.same) + Counter(diff.new) == names_b
    assert {fusion.into for fusion in diff.fused} <= set(diff.new)
    assert all(len(fusion.sources) > 1 for fusion in diff.fused)
    sentences = [*diff.changed, *diff.unchanged]
    assert len(sentences) == len(set(sentences))
    for part in (*headings(diff), SideBySide(("A", "B"), (a, b)), verdict(diff.changed, diff.unchanged)):
        assert "\x1b" not in shown(part)
    json.loads(as_json.encode(as_json.diff_json(diff, "a", "b")))


@settings(max_examples=100, deadline=None)
@given(traces)
def test_against_itself_nothing_has_changed(trace: Trace) -> None:
    found: Any = forward(trace)
    assert changed(compare(found, found)) == []
