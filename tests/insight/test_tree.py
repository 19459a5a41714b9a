"""The chain tree on hand-made traces."""

from __future__ import annotations

from rung.insight.tree import tree
from rung.show.read import chain_tree
from tracelib import annotation, kernel, launch, op, read


def linear(at: float, number: int, name: str = "gemm") -> list[dict[str, object]]:
    return [
        op("aten::linear", at, 20),
        op("aten::t", at + 1, 3),
        op("aten::transpose", at + 1.5, 2),
        op("aten::mm", at + 5, 10),
        launch(at + 7, 2, number),
        kernel(name, at + 12, 5, number),
    ]


def test_neighbours_that_look_the_same_are_one_node() -> None:
    trace = read(annotation("fwd", 0, 100), *linear(10, 1), *linear(40, 2), *linear(70, 3, "other"))
    twice, once = tree(trace.regions[0]).nodes
    assert (twice.name, twice.times) == ("aten::linear", 2)
    assert (once.name, once.times) == ("aten::linear", 1)
    assert [child.name for child in twice.children] == ["aten::mm"]
    assert [k.name for k in twice.children[0].kernels] == ["gemm"]
    assert list(twice.launchless.items()) == [("aten::t", 1), ("aten::transpose", 1)]


def test_launchless_ops_and_work_outside_any_op() -> None:
    trace = read(annotation("fwd", 0, 100), op("aten::view", 1, 2), launch(10, 1, 1), kernel("k", 20, 5, 1))
    found = tree(trace.regions[0])
    assert (found.nodes, found.launchless) == ((), {"aten::view": 1})
    assert [k.name for k in found.loose] == ["k"]


def test_work_of_an_op_around_the_region_is_not_lost() -> None:
    trace = read(op("Outer", 0, 100), annotation("fwd", 10, 50), launch(20, 1, 1), kernel("k", 30, 5, 1))
    found = tree(trace.regions[0])
    assert [k.name for k in found.loose] == ["k"]
    assert found.nodes == ()


def test_ops_nested_as_deep_as_one_likes() -> None:
    deep = [op("aten::add", 1 + i, 9000 - 2 * i) for i in range(3000)]
    trace = read(annotation("fwd", 0, 9100), *deep, launch(3002, 1, 1), kernel("k", 3010, 5, 1))
    found = tree(trace.regions[0])
    assert len(found.nodes) == 1
    assert "add > add" in str(chain_tree(found).children[0].label)
