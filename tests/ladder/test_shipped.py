"""Which recordings `--recorded` finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from rung.errors import UsageError
from rung.ladder import LINEAR, MATMUL_ADD, MLP, Rung, get_rung
from rung.ladder.shipped import collections, recorded


def found(rung: Rung, tmp_path: Path, collection: str = "h200", **wanted: object) -> list[str]:
    sources = recorded(rung, collection, tmp_path, **wanted)  # type: ignore[arg-type]
    assert all(source.path is not None and source.path.exists() for source in sources)
    return [f"{source.scene}/{source.variant}" for source in sources]


def test_what_there_is() -> None:
    assert collections() == ["h200", "article"]


def test_scenes_go_from_small_to_big_and_cold_before_warm(tmp_path: Path) -> None:
    assert found(MATMUL_ADD, tmp_path) == [
        "matmul-add-64-cold/eager",
        "matmul-add-64/eager",
        "matmul-add-64/compiled",
        "matmul-add-4096-cold/eager",
        "matmul-add-4096/eager",
        "matmul-add-4096/compiled",
    ]


def test_variants_stand_in_the_order_of_the_rung(tmp_path: Path) -> None:
    assert found(LINEAR, tmp_path) == ["linear/eager", "linear/compiled"]
    assert found(MLP, tmp_path) == ["mlp/eager", "mlp/compiled", "mlp/liger", "mlp/rung"]


@pytest.mark.parametrize("rung", [MATMUL_ADD, LINEAR, MLP], ids=lambda rung: rung.name)
def test_the_article_has_its_rungs_and_is_written_where_asked(rung: Rung, tmp_path: Path) -> None:
    sources = recorded(rung, "article", tmp_path)
    assert {source.variant for source in sources} <= set(rung.variants)
    assert all(source.path is not None and source.path.parent == tmp_path / "article" for source in sources)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"parameters": {"size": 4096}}, ["4096-cold/eager", "4096/eager", "4096/compiled"]),
        ({"parameters": {"size": 64}, "warm": True}, ["64/eager", "64/compiled"]),
        ({"warm": False}, ["64-cold/eager", "4096-cold/eager"]),
        ({"variants": ["compiled"]}, ["64/compiled", "4096/compiled"]),
        (
            {"variants": ["compiled", "eager"], "parameters": {"size": 64}, "warm": True},
            ["64/eager", "64/compiled"],
        ),
    ],
)
def test_some_of_it(wanted: dict[str, object], expected: list[str], tmp_path: Path) -> None:
    assert found(MATMUL_ADD, tmp_path, **wanted) == [f"matmul-add-{name}" for name in expected]


@pytest.mark.parametrize(
    ("collection", "wanted", "word"),
    [
        ("h100", {}, "give h200, article"),
        ("h200", {"parameters": {"size": 77}}, "was recorded with size 64; size 4096"),
        ("h200", {"parameters": {"dim": 77}}, "no parameter 'dim'"),
        ("h200", {"variants": ["compiled"], "warm": False}, "matmul-add-64-cold/eager"),
        ("h200", {"variants": ["eager", "liger"]}, "no variant 'liger'"),
    ],
)
def test_what_there_is_not(collection: str, wanted: dict[str, object], word: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=word):
        found(MATMUL_ADD, tmp_path, collection, **wanted)


def test_a_variant_that_was_not_recorded_is_not_passed_over(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="mlp/eager, mlp/compiled, mlp/liger"):
        found(MLP, tmp_path, "article", variants=["eager", "rung"])


@pytest.mark.parametrize(
    ("rung", "wanted", "expected"),
    [
        ("mlp", {"train": True}, ["eager", "compiled", "liger", "rung"]),
        ("mlp-recompile", {}, ["eager", "compiled", "dynamic"]),
        ("mlp-graph-break", {"variants": ["compiled"]}, ["compiled"]),
        ("model", {}, ["eager", "compiled", "liger", "rung"]),
        ("model", {"parameters": {"family": "llama"}, "variants": ["rung"]}, ["rung"]),
    ],
)
def test_each_rung_finds_its_own_scenes_alone(
    rung: str, wanted: dict[str, object], expected: list[str], tmp_path: Path
) -> None:
    scene = {"mlp": "mlp-train", "model": "model-llama"}.get(rung, rung)
    assert found(get_rung(rung), tmp_path, **wanted) == [f"{scene}/{variant}" for variant in expected]


@pytest.mark.parametrize(
    ("rung", "wanted", "word"),
    [
        ("block", {"train": True}, "have none like that; there are: block/eager"),
        ("model", {"parameters": {"family": "gemma"}}, "have none like that; there are: model-llama/eager"),
        ("model", {"parameters": {"layers": 3}}, "was recorded with family llama, layers 2"),
        ("model", {"parameters": {"family": "bert"}}, "family is 'bert': give llama, gemma, qwen"),
    ],
)
def test_what_there_is_not_of_the_others(
    rung: str, wanted: dict[str, object], word: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=word):
        found(get_rung(rung), tmp_path, **wanted)


def test_the_article_does_not_have_the_others(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the article has no rung 'block'"):
        found(get_rung("block"), tmp_path, "article")
