"""The rule table and the file of tuned tiles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from rung.glu import few_rules, rules, tuning  # noqa: E402
from rung.glu.few_rules import split_k  # noqa: E402
from rung.glu.rules import Tile, choose  # noqa: E402

pytestmark = pytest.mark.torch


def test_big_outputs_get_big_tiles_and_small_ones_fill_the_chip() -> None:
    tiles = rules.tma("half", False)
    assert choose(tiles, 8192, 3072, 132)[:2] == (128, 128)
    assert choose(tiles, 128, 3072, 132)[:2] == (64, 64)


def test_small_batches_read_wide_weights_with_wide_tiles() -> None:
    assert few_rules.gate_up("half", 2, 3072, 132)[:2] == (16, 64)
    assert few_rules.gate_up("half", 17, 3072, 132)[:2] == (64, 32)
    assert few_rules.gate_up("half", 17, 14336, 132)[:2] == (64, 64)
    assert few_rules.down("half", 16, 768, 132)[:2] == (16, 64)
    assert few_rules.down("half", 17, 4096, 132)[:2] == (64, 64)
    assert few_rules.down_strip(768, 132).n == 2
    assert few_rules.down_strip(4096, 132).n == 8
    assert few_rules.gate_up_strip(768).k < few_rules.gate_up_strip(4096).k


@pytest.mark.parametrize(
    ("rows", "height"),
    [(128, 64), (256, 128), (512, 64), (1024, 128), (2048, 192), (8192, 192), (16384, 192)],
)
def test_hopper_tiles_as_measured(rows: int, height: int) -> None:
    """The quickest of the three on an H200 at 3072 hidden features, or within 2 % of it."""
    assert choose(rules.hopper(768), rows, 3072, 132)[:2] == (height, 64)


def test_short_weights_get_short_groups() -> None:
    assert [tile.group for tile in rules.hopper(768)] == [4, 8, 8]
    assert [tile.group for tile in rules.hopper(2304)] == [8, 8, 8]
    assert [tile[:5] for tile in rules.hopper(768)] == [tile[:5] for tile in rules.hopper(2304)]
    assert {*rules.hopper(768), *rules.hopper(2304)} <= set(rules.candidates("hopper", "half"))


def test_tables_by_name() -> None:
    assert rules.tiles("hopper", "half", 8, True, 768) == rules.hopper(768)
    assert rules.tiles("hopper", "half", 8, True) == rules.hopper(4096)
    assert rules.tiles("tma", "tf32", 4, True) == rules.tma("tf32", True)
    assert rules.tiles("portable", "half", 1, False) == rules.portable("half", 1)


@pytest.mark.parametrize(
    ("rows", "columns", "height"),
    [(8192, 3072, 192), (4096, 9216, 192), (8192, 14336, 192), (100, 3072, 128), (1024, 3072, 128)],
)
def test_backward_takes_the_tall_tile_where_it_fills_the_machine(
    rows: int, columns: int, height: int
) -> None:
    assert choose(rules.down_backward(), rows, columns, 132).m == height


@pytest.mark.parametrize(
    ("rows", "columns", "depth", "one"),
    [
        (8192, 768, 3072, True),  # 43 x 6 tiles of 2 x 132
        (4096, 2304, 9216, True),  # 22 x 18 of 3 x 132
        (8192, 5120, 1536, True),  # 43 x 40 of 14 x 132
        (8192, 1024, 4096, False),  # 43 x 8 of 3 x 132
        (6144, 768, 3072, False),  # 32 x 6 of 2 x 132
        (512, 768, 3072, False),
        (8192, 4096, 14336, False),  # 43 x 32 of 11 x 132, and too deep
    ],
)
def test_backward_for_x_is_one_product_where_that_was_quicker(
    rows: int, columns: int, depth: int, one: bool
) -> None:
    assert (rules.gate_up_backward(rows, columns, depth, 132) is not None) == one


def test_cost_by_hand() -> None:
    """100 blocks of 10 x 10 on 60 multiprocessors are 2 waves (200); 25 blocks of 20 x 20 are one wave
    (400)."""
    small, big = Tile(10, 10, 1, 1, 1), Tile(20, 20, 1, 1, 1)
    assert choose((small, big), 100, 100, 60) is small
    assert choose((small, big._replace(efficiency=4.0)), 100, 100, 60)[:2] == big[:2]


@pytest.mark.parametrize(("columns", "depth"), [(768, 3072), (4096, 14336), (25, 41), (1, 1), (100_000, 64)])
def test_parts_along_k_cover_it_once(columns: int, depth: int) -> None:
    tile = few_rules.down("half", 1, columns, 132)
    splits, steps = split_k(columns, depth, tile, 132)
    assert 1 <= splits <= few_rules.MOST_SPLITS
    assert (splits - 1) * steps * tile.k < depth <= splits * steps * tile.k


def test_tuned_tiles_come_back_from_a_readable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNG_CACHE_DIR", str(tmp_path))
    shape = ("A chip", "tma", "half", False, 5000, 3072, 768)
    assert tuning.find(*shape) is None
    tile = Tile(128, 64, 64, 8, 4, 16)
    tuning._keep(tuning._key(*shape), tile)
    assert tuning.find(*shape) == tile
    assert tuning.find("A chip", "tma", "half", False, 8192, 3072, 768) == tile  # the same power of two
    assert tuning.find("A chip", "tma", "half", False, 8193, 3072, 768) is None
    kept = json.loads((tmp_path / "glu-tiles.json").read_text())
    assert kept == {"A chip | tma half | rows <= 8192, hidden 3072, in 768": [128, 64, 64, 8, 4, 16]}


@pytest.mark.parametrize("text", ["", "[]", '{"a": 3}', "{", '{"a": []}'])
def test_damaged_file_counts_as_nothing_tuned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("RUNG_CACHE_DIR", str(tmp_path))
    (tmp_path / "glu-tiles.json").write_text(text)
    assert tuning.find("A chip", "tma", "half", False, 5000, 3072, 768) is None
