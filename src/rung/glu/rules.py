"""Which tile a shape gets: a small table for each kind of kernel, and one rule to choose from it.

A tile's cost is the number of waves it takes to cover the output, times its area, over how well it keeps
the tensor cores busy; the cheapest tile wins. Tables are in bf16's terms; fp32 halves K (the same bytes a
stage).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

Kind = Literal["half", "tf32", "ieee"]
"""What the products are made of: 2-byte floats, fp32 on tensor cores, fp32 on ordinary cores."""


class Tile(NamedTuple):
    """A block's rows, columns of h and depth of a stage; its warps; stages in flight; rows of tiles a
    group."""

    m: int
    n: int
    k: int
    warps: int
    stages: int
    group: int = 8
    efficiency: float = 1.0


_PORTABLE: dict[Kind, tuple[Tile, ...]] = {
    "half": (Tile(128, 64, 64, 8, 3), Tile(64, 32, 64, 4, 4, efficiency=0.6)),
    "tf32": (Tile(128, 64, 32, 8, 3), Tile(64, 32, 32, 4, 4, efficiency=0.6)),
    "ieee": (Tile(64, 64, 16, 8, 3),),
}
# 4 stages of 48 KB and the output's tile fill an SM's shared memory; writing gate and up as well needs the
# room of one stage.
_SMALLER = (Tile(128, 64, 64, 8, 4, efficiency=0.85), Tile(64, 64, 64, 4, 4, efficiency=0.7))
_TMA: dict[Kind, dict[bool, tuple[Tile, ...]]] = {
    "half": {False: (Tile(128, 128, 64, 8, 4), *_SMALLER), True: (Tile(128, 128, 64, 8, 3), *_SMALLER)},
    "tf32": {
        False: (Tile(128, 64, 32, 8, 4), Tile(64, 64, 32, 4, 4, efficiency=0.7)),
        True: (Tile(128, 64, 32, 8, 3), Tile(64, 64, 32, 4, 3, efficiency=0.7)),
    },
}


_HOPPER = (
    Tile(192, 64, 64, 4, 5),
    Tile(128, 64, 64, 4, 6, efficiency=0.96),
    Tile(64, 64, 64, 4, 8, efficiency=0.83),
)
SHORT = 1024
"""Input features up to which all weights of a usual width stay in L2."""
_DOWN_BACKWARD = (Tile(192, 128, 64, 4, 4, group=6), Tile(128, 128, 64, 4, 5, efficiency=0.97))

GATE_UP_BACKWARD = Tile(192, 128, 64, 4, 5, group=4)
FULL = 0.93
"""How far its waves must be filled for that one product to be quicker than two of the library's."""
DEEP = 9216
"""Hidden features up to which it can be."""


def portable(kind: Kind, width: int) -> tuple[Tile, ...]:
    """Tiles of the kernel with masked pointers, for more rows than `few_rules` has.

    Without 16-byte loads (`width` 1) nothing is copied past the registers: half the depth, or they spill.
    """
    tiles = _PORTABLE[kind]
    return tuple(t._replace(k=t.k // 2) for t in tiles) if width == 1 and kind == "half" else tiles


def tma(kind: Kind, save: bool) -> tuple[Tile, ...]:
    """Tiles of the TMA kernel on sm_90; `save` is whether gate and up are written too."""
    return _TMA[kind][save]


def hopper(depth: int) -> tuple[Tile, ...]:
    """Tiles of the Gluon gate-up kernel on sm_90 for `depth` input features; warps are those of one of its
    two consumers.

    Groups of 8 rows of tiles share what comes from memory. Where nothing has to come twice, those of 4 are
    quicker: 104.1 µs and 104.7 at [8192, 768], 3072 on an H200, 464 and 454 at [4096, 2304], 9216.
    """
    tall, *others = _HOPPER
    return (tall._replace(group=4), *others) if depth <= SHORT else _HOPPER


def down_backward() -> tuple[Tile, ...]:
    """Tiles of backward through down and the GLU.

    µs on an H200, 192 rows high and 128: 90.0 and 89.7 at [8192, 768], 3072; 262 and 271 at [4096, 2304],
    9216; 1327 and 1392 at [8192, 4096], 14336. Tall ones in groups of 6 rows of tiles, of 8 and of 4, on
    another H200: 86.6, 86.9 and 86.1; 254, 259 and 256; 1266, 1288 and 1281.
    """
    return _DOWN_BACKWARD


def gate_up_backward(rows: int, columns: int, depth: int, multiprocessors: int) -> Tile | None:
    """The tile of backward through gate and up in one product of [rows, columns], `depth` the hidden
    features; None where two of the library's are quicker.

    Of their time on an H200, by how far the waves are filled: 0.96 at [8192, 768], 3072 (0.98); 0.97 at
    [4096, 768], 3072 (1.00); 0.95 at [8192, 5120], 1536 (0.93); 0.99 at [4096, 2304], 9216 (1.00); but
    1.06 at [8192, 1024], 4096 (0.87); 1.15 at [6144, 768], 3072 (0.73); 1.06 at [8192, 4096], 14336 (0.95).
    """
    tile = GATE_UP_BACKWARD
    blocks = -(-rows // tile.m) * -(-columns // tile.n)
    waves = -(-blocks // multiprocessors)
    return tile if blocks >= FULL * waves * multiprocessors and depth <= DEEP else None


@lru_cache(4096)
def choose(tiles: tuple[Tile, ...], rows: int, columns: int, multiprocessors: int) -> Tile:
    """The tile of least cost for an output of [rows, columns]."""

    def cost(tile: Tile) -> float:
        blocks = -(-rows // tile.m) * -(-columns // tile.n)
        return -(-blocks // multiprocessors) * tile.m * tile.n / tile.efficiency

    return min(tiles, key=cost)


def tiles(kernel: str, kind: Kind, width: int, save: bool, depth: int = SHORT + 1) -> tuple[Tile, ...]:
    """The tiles of a gate-up kernel by its name, for `depth` input features; without it, for any."""
    if kernel == "hopper":
        return hopper(depth)
    return tma(kind, save) if kernel == "tma" else portable(kind, width)


def candidates(kernel: str, kind: Kind) -> list[Tile]:
    """Tiles that `tune` measures: the table's, each with groups of 4, 8 and 16 rows of tiles."""
    return [tile._replace(group=group) for tile in tiles(kernel, kind, 0, False) for group in (4, 8, 16)]
