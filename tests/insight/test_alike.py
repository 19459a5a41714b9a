"""What was recorded alike is told once, and is told right."""

from __future__ import annotations

from importlib.resources import files

import pytest

from handmade import GELU, MUL, TILE_A, one, ran, tensors
from rung.insight.forward import forward
from rung.insight.traffic import traffic_of
from rung.insight.work import work_of
from rung.trace import read
from tracelib import annotation, kernel, launch, op
from tracelib import read as made

LAYER = [ran(TILE_A, "aten::mm", [64, 32], [32, 64]), ran(GELU, "aten::gelu", [64, 64], dur=4)]


def test_layers_are_alike_whatever_their_times() -> None:
    slower = [(name, by, args, 2 * dur) for name, by, args, dur in LAYER]
    found = one(*LAYER, *slower)
    assert found.like == (0, 1, 0, 1)
    assert [row.dur_ns.median for row in found.rows] == [5_000, 4_000, 10_000, 8_000]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(ran(MUL, "aten::gelu", [64, 64]), id="another kernel"),
        pytest.param(ran(GELU, "aten::sin", [64, 64]), id="another op"),
        pytest.param(ran(GELU, "aten::gelu", [64, 32]), id="another shape"),
        pytest.param((GELU, "aten::gelu", tensors([64, 64], dtype="c10::Half"), 5), id="another dtype"),
        pytest.param(ran(GELU, "aten::gelu"), id="nothing recorded"),
    ],
)
def test_what_differs_is_not(other: tuple[str, str, dict[str, object], float]) -> None:
    assert one(LAYER[1], other).like == (0, 1)


def test_nor_is_the_second_kernel_of_an_op() -> None:
    """An op that launches one kernel twice: which of the two computes its result is not known."""
    first = [op("aten::sum", 1, 8, **tensors([64, 64])), launch(2, 1, 1), launch(4, 1, 2)]
    trace = made(annotation("fwd", 0, 40), *first, kernel("k", 5, 2, 1), kernel("k", 8, 2, 2))
    assert forward(trace).like == (0, 1)


def test_under_a_stack_deeper_than_pythons_own() -> None:
    deep = [op(f"op{i}", i, 10_000 - 2 * i) for i in range(3_000)]
    trace = made(annotation("fwd", 0, 20_000), *deep, launch(4_000, 1, 1), kernel("k", 4_002, 2, 1))
    assert len(forward(trace).rows[0].path) == 3_000


@pytest.mark.parametrize(
    "variant", ["model-llama/eager", "mlp-train/eager", "mlp-train/compiled", "block/liger"]
)
def test_of_a_recording_each_row_says_what_its_own_kernel_says(variant: str) -> None:
    found = forward(read(str(files("rung.ladder") / f"recordings/h200/{variant}.json.gz")))
    assert len(set(found.like)) < len(found.rows)
    told = found.told(traffic_of)
    for row, moved, one_kernel in zip(found.rows, told, found.example.work, strict=True):
        chain = one_kernel.trace.chain(one_kernel)
        assert (row.name, row.path) == (one_kernel.name, tuple(around.name for around in chain.ops))
        assert row.work == work_of(one_kernel)
        assert moved == traffic_of(row, one_kernel)
