"""Tiles of a small batch, up to FEW_ROWS rows: bound by reading the weights.

At [T, 4096], 14336 they are 352 MB, 83 µs at copy speed; the two kernels take 84 µs for one row.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from rung.glu.rules import Kind, Tile

FEW_ROWS = 64
SIXTEEN = 16
"""Up to here the weights' tiles are the left operands."""
MOST_SPLITS = 4


class Strip(NamedTuple):
    """Of a kernel for one row: the rows of a weight that a block reads, columns a step, warps."""

    n: int
    k: int
    warps: int


# By the rows of a tile; the wider one first.
_GATE_UP: dict[Kind, dict[int, tuple[Tile, ...]]] = {
    "half": {
        16: (Tile(16, 64, 128, 4, 3),),
        64: (Tile(64, 64, 64, 4, 4), Tile(64, 32, 128, 4, 3)),
    },
    "tf32": {16: (Tile(16, 64, 64, 4, 3),), 64: (Tile(64, 64, 32, 4, 4), Tile(64, 32, 32, 4, 4))},
    "ieee": {16: (Tile(16, 32, 16, 4, 3),), 64: (Tile(64, 32, 16, 4, 3),)},
}
_DOWN: dict[Kind, dict[int, tuple[Tile, ...]]] = {
    "half": {
        16: (Tile(16, 64, 128, 4, 4),),
        64: (Tile(64, 64, 128, 4, 3), Tile(64, 32, 128, 4, 4)),
    },
    "tf32": {16: (Tile(16, 64, 64, 4, 4), Tile(16, 32, 64, 2, 4)), 64: (Tile(64, 32, 64, 4, 4),)},
    "ieee": {16: (Tile(16, 32, 16, 4, 3),), 64: (Tile(64, 32, 16, 4, 3),)},
}


def gate_up_strip(depth: int) -> Strip:
    """Longer steps where there are four of them.

    On an H200 at [1, 4096], 14336: 55.9 µs long, 57.7 short; at [1, 2304], 9216: 25.7 and 22.6.
    """
    return Strip(2, 1024, 4) if depth >= 4096 else Strip(4, 256, 4)


def down_strip(columns: int, multiprocessors: int) -> Strip:
    """Many rows of the weight a block where that leaves several blocks a multiprocessor.

    On an H200 at [1, 4096], 14336: 30.6 µs with 8 rows, 33.0 with 2; at [1, 2304], 9216: 11.5 and 8.6.
    """
    return Strip(8, 512, 8) if columns >= 28 * multiprocessors else Strip(2, 1024, 4)


def bucket(rows: int) -> int:
    """Tiles have 16 or 64 rows."""
    return SIXTEEN if rows <= SIXTEEN else FEW_ROWS


@lru_cache(4096)
def gate_up(kind: Kind, rows: int, columns: int, multiprocessors: int, width: int = 0) -> Tile:
    """The gate-up tile: the wider one where it still fills the chip. `width` 1: without 16-byte loads.

    On an H200 at [64, 4096], 14336: 62.5 µs wide, 64.1 narrow; at [64, 768], 3072: 6.5 wide, 5.3 narrow.
    """
    tiles = _GATE_UP[kind][bucket(rows)]
    wide = (t for t in tiles if columns >= t.n * multiprocessors)
    return _held(next(wide, tiles[-1]), kind, width)


@lru_cache(4096)
def down(kind: Kind, rows: int, columns: int, multiprocessors: int, width: int = 0) -> Tile:
    """The down tile: the wider one where its blocks, K split, still fill the chip.

    On an H200 at [64, 4096], 14336: 37.4 µs wide, 44.3 narrow; at [64, 768], 3072: 8.8 wide, 7.1 narrow. For
    16 rows the wide one is quicker there too: with it both kernels take 8.74 µs, with 32 columns 9.03.
    """
    tiles = _DOWN[kind][bucket(rows)]
    wide = (t for t in tiles if MOST_SPLITS * columns >= multiprocessors * t.n)
    return _held(next(wide, tiles[-1]), kind, width)


def _held(tile: Tile, kind: Kind, width: int) -> Tile:
    """Without 16-byte loads nothing is copied past the registers: half the depth, or they spill."""
    return tile._replace(k=tile.k // 2) if width == 1 and kind != "ieee" else tile


@lru_cache(4096)
def split_k(columns: int, depth: int, tile: Tile, multiprocessors: int) -> tuple[int, int]:
    """(splits, steps of `tile.k` in each) for the down product: about two blocks a multiprocessor.

    Depends on the weight's shape alone, so a row's result does not depend on the batch it rides in.
    """
    blocks = -(-columns // tile.n)
    steps = -(-depth // tile.k)
    splits = max(1, min(MOST_SPLITS, -(-2 * multiprocessors // blocks), steps // 2))
    each = -(-steps // splits)
    return -(-steps // each), each
