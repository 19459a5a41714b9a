"""A recording knows which op read which weight, and climb's rows are named by them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from rung.insight.forward import forward  # noqa: E402
from rung.ladder import record_rung  # noqa: E402
from rung.ladder.labels import labels, short  # noqa: E402
from rung.recording import Recording, Settings, record  # noqa: E402

pytestmark = pytest.mark.torch

TINY = {"batch": 2, "seq": 4, "dim": 16}
MLP = {**TINY, "hidden": 32}


def told(rung: str, variant: str, tmp_path: Path, sizes: Any, train: bool = False) -> list[tuple[str, str]]:
    """(op, weight) of each stand-in kernel."""
    settings = Settings(out=tmp_path, train=train)
    (made,) = record_rung(rung, sizes, variants=[variant], device="cpu", settings=settings)
    assert isinstance(made, Recording)
    one = forward(made.trace)
    return [(row.op or "", label) for row, label in zip(one.rows, labels(one), strict=True)]


@pytest.mark.parametrize("variant", ["eager", "compiled"])
def test_each_product_of_the_mlp_has_its_weight(variant: str, tmp_path: Path) -> None:
    found = told("mlp", variant, tmp_path, MLP)
    assert [label for op, label in found if op == "aten::mm"] == ["gate", "up", "down"]
    assert {label for op, label in found if op != "aten::mm"} == {""}


def test_attention_has_four(tmp_path: Path) -> None:
    found = told("attention", "eager", tmp_path, {**TINY, "heads": 2})
    assert [label for op, label in found if op == "aten::mm"] == ["q", "k", "v", "o"]


def test_a_norm_has_its_weight_too(tmp_path: Path) -> None:
    found = told("block", "eager", tmp_path, {**MLP, "heads": 2})
    named = [label for _, label in found if label]
    assert named == [
        *("input_layernorm", "q", "k", "v", "o"),
        *("post_attention_layernorm", "gate", "up", "down"),
    ]


def test_backward_goes_by_what_it_is_the_gradient_of(tmp_path: Path) -> None:
    """Of a linear y = x w.T backward makes dw = dy.T x, which reads no weight, and dx = dy w, which does."""
    found = told("mlp", "eager", tmp_path, MLP, train=True)
    products = [label for op, label in found if op == "aten::mm"]
    assert products[:3] == ["gate", "up", "down"]
    assert products[3:5] == ["grad of down", "down"]
    assert sorted(products[5:]) == ["gate", "grad of gate", "grad of up", "up"]


def test_weights_that_share_memory_go_by_the_first_name(tmp_path: Path) -> None:
    one = torch.nn.Linear(4, 4, bias=False)
    two = torch.nn.Linear(4, 4, bias=False)
    two.weight = one.weight
    recording = record(torch.nn.Sequential(one, two), torch.ones(2, 4), out=tmp_path, active=1)
    assert [(name, len(ids)) for name, ids in recording.metadata["weights"].items()] == [("0", 2)]


@pytest.mark.parametrize(("fn", "shapes"), [(torch.nn.Linear(4, 4), False), (torch.sin, True)])
def test_nothing_is_told_where_nothing_is_known(fn: Any, shapes: bool, tmp_path: Path) -> None:
    recording = record(fn, torch.ones(2, 4), out=tmp_path, active=1, shapes=shapes, name="some")
    assert recording.metadata["weights"] == {}
    assert set(labels(forward(recording.trace))) == {""}


@pytest.mark.parametrize(
    ("weight", "label"),
    [
        ("gate_proj", "gate"),
        ("mlp.down_proj", "down"),
        ("model.layers.11.self_attn.q_proj", "11.q"),
        ("lm_head", "lm_head"),
        ("0", "0"),
    ],
)
def test_a_weights_short_name(weight: str, label: str) -> None:
    assert short(weight) == label
