"""What new shapes cost: told of given visits, and measured."""

from __future__ import annotations

from typing import Any

import pytest

from rung.errors import UsageError
from rung.ladder import get_rung
from rung.ladder.shapes import Shapes, Visit, answers, check_visitors, parse, visit_shapes

S = 1_000_000_000
VISITS = (
    Visit("eager", (8, 4), 3_000, 0, 0, 0, 0, 1_000),
    Visit("eager", (3, 7), 1_000, 0, 0, 0, 0, 1_500),
    Visit("compiled", (8, 4), 5 * S, 4 * S, 2, 0, 1, 2_000),
    Visit("compiled", (3, 7), 2 * S, 2 * S, 1, 1, 0, 2_000),
)
MET = Shapes("mlp", ((8, 4), (3, 7)), {}, False, {}, {}, VISITS)


def test_what_each_variant_paid() -> None:
    """Each first call's time beyond a later one's; a first call that was the quicker costs nothing."""
    assert answers(MET) == (
        "eager: 2 shapes cost 2.00 µs before they ran at speed.",
        "compiled: 2 shapes cost 7.00 s before they ran at speed, 3 graphs compiled, 1 of them anew.",
    )
    assert answers(MET.only(["eager"])) == answers(MET)[:1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("64x128,64x100", ((64, 128), (64, 100))), (" 3X77 , 3x77,", ((3, 77),))],
)
def test_shapes_as_text(text: str, expected: Any) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize("text", ["", ",", "3", "3x", "3x0", "axb", "1x2x3", "-1x2"])
def test_what_are_no_shapes(text: str) -> None:
    with pytest.raises(UsageError, match="give batch x seq, as 64x128"):
        parse(text)


def test_who_can_meet_shapes() -> None:
    assert check_visitors(get_rung("mlp"), None) == ["eager", "compiled", "dynamic", "liger", "rung"]
    assert check_visitors(get_rung("mlp"), ["dynamic"]) == ["dynamic"]
    with pytest.raises(UsageError, match="mlp has no variant 'math'"):
        check_visitors(get_rung("mlp"), ["math"])
    with pytest.raises(UsageError, match="matmul-add has no batch and seq to vary"):
        check_visitors(get_rung("matmul-add"), None)


@pytest.mark.torch
@pytest.mark.slow
def test_compiled_compiles_until_both_sizes_have_varied() -> None:
    """A first shape; another seq; another batch too; a fourth then finds what it needs."""
    pytest.importorskip("torch")
    met = visit_shapes(
        get_rung("mlp"),
        ((8, 6), (8, 5), (3, 7), (4, 9)),
        parameters={"dim": 16, "hidden": 32},
        variants=["eager", "compiled"],
        device="cpu",
    )
    assert met.variants == ("eager", "compiled")
    assert [(v.graphs, v.recompiles) for v in met.of("eager")] == [(0, 0)] * 4
    compiled = met.of("compiled")
    assert [(v.graphs, v.recompiles, v.breaks) for v in compiled] == [
        (1, 0, 0),
        (1, 1, 0),
        (1, 1, 0),
        (0, 0, 0),
    ]
    assert all(0 < v.compile_ns <= v.first_ns for v in compiled[:3])
    assert all(v.compile_ns == 0 for v in met.of("eager"))
    assert all(v.steady_ns > 0 for v in met.visits)
    assert met.parameters == {"dim": 16, "hidden": 32, "dtype": "bfloat16"}
