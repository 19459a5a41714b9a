# mypy: ignore-errors
"""A matrix product on sm_90, in Gluon: a warp fills a ring of stages by TMA, two consumers multiply in turn.

A stage holds a tile of A in boxes of 64 rows, and a tile of B; barriers say when it is `full` and when
`empty`. Which stage, and which parity its barriers have, follows from `at`, the running number of fills:
nothing else is carried through the loops.

A consumer is a warpgroup. It takes every other tile whole, with an accumulator for each box of A, so that the
products of one run under the epilogue of the other (ping-pong). A barrier tells even fills from odd ones, no
more: a consumer that waited for a stage two fills ahead would pass at once. `turn` keeps products in the
order of the tiles, and nobody waits so far ahead.
"""

from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)

from rung.glu.kernels import tma

CONSUMERS = gl.constexpr(2)
ROWS = gl.constexpr(64)
"""Rows of A in a box, and in an accumulator."""


@gluon.jit
def barriers(COUNT: gl.constexpr):
    """COUNT barriers, each completed by one arrival."""
    made = gl.allocate_shared_memory(gl.int64, [COUNT, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(COUNT):
        mbarrier.init(made.index(i), count=1)
    return made


@gluon.jit
def empty_stage(ring, at, BYTES: gl.constexpr, STAGES: gl.constexpr):
    """(stage, barrier) of fill `at`, once it is empty; the barrier then expects BYTES."""
    _, _, full, empty = ring
    stage = at % STAGES
    mbarrier.wait(empty.index(stage), ((at // STAGES) & 1) ^ 1)
    mbarrier.expect(full.index(stage), BYTES)
    return stage, full.index(stage)


@gluon.jit
def product(ring, turn, at, tiles, steps, CONSUMER: gl.constexpr, PARTS: gl.constexpr, STAGES: gl.constexpr,
            B_BY_COLUMNS: gl.constexpr):  # fmt: skip
    """(A @ B, an accumulator for each of the PARTS boxes of A; the next `at`) of a consumer that has done
    `tiles` tiles before.

    With B_BY_COLUMNS a tile of B lies [N, K] in its stage, else [K, N]. Products of one stage are in flight
    while those of the next are issued; then the stage is given back.
    """
    _, b, _, empty = ring
    COLUMNS: gl.constexpr = b.shape[1] if B_BY_COLUMNS else b.shape[2]
    mbarrier.wait(turn.index(CONSUMER), (tiles & 1) ^ (1 - CONSUMER))
    # The first step stands apart: begun inside the loop, ptxas lets every wgmma wait for the one before.
    zero = gl.zeros((ROWS, COLUMNS), gl.float32, gl.NVMMADistributedLayout([3, 0], [4, 1], [16, COLUMNS, 16]))
    acc = _issue((zero, zero, zero), ring, at, False, PARTS, STAGES, B_BY_COLUMNS)
    for _ in range(1, steps):
        at += 1
        acc = _issue(acc, ring, at, True, PARTS, STAGES, B_BY_COLUMNS)
        acc = _unfinished(_wait(acc, PARTS, PARTS), PARTS)
        mbarrier.arrive(empty.index((at - 1) % STAGES), count=1)
    mbarrier.arrive(turn.index(1 - CONSUMER), count=1)
    sums = _wait(acc, 0, PARTS)
    mbarrier.arrive(empty.index(at % STAGES), count=1)
    return sums, at + 1 + steps  # the other consumer's tile lies between


@gluon.jit
def _issue(acc, ring, at, ONTO: gl.constexpr, PARTS: gl.constexpr, STAGES: gl.constexpr,
           B_BY_COLUMNS: gl.constexpr):  # fmt: skip
    """Starts the products of fill `at`, with ONTO added to `acc`."""
    a, b, full, _ = ring
    stage = at % STAGES
    mbarrier.wait(full.index(stage), (at // STAGES) & 1)
    columns = b.index(stage).permute((1, 0)) if B_BY_COLUMNS else b.index(stage)
    if PARTS == 1:
        return (warpgroup_mma(a.index(stage), columns, acc[0], use_acc=ONTO, is_async=True),)
    elif PARTS == 2:
        return (
            warpgroup_mma(a.index(stage * 2), columns, acc[0], use_acc=ONTO, is_async=True),
            warpgroup_mma(a.index(stage * 2 + 1), columns, acc[1], use_acc=ONTO, is_async=True),
        )
    else:
        return (
            warpgroup_mma(a.index(stage * 3), columns, acc[0], use_acc=ONTO, is_async=True),
            warpgroup_mma(a.index(stage * 3 + 1), columns, acc[1], use_acc=ONTO, is_async=True),
            warpgroup_mma(a.index(stage * 3 + 2), columns, acc[2], use_acc=ONTO, is_async=True),
        )


@gluon.jit
def _wait(acc, LEFT: gl.constexpr, PARTS: gl.constexpr):
    """The accumulators as tensors, once at most LEFT products are in flight."""
    if PARTS == 1:
        return (warpgroup_mma_wait(LEFT, deps=acc),)
    else:
        return warpgroup_mma_wait(LEFT, deps=acc)


@gluon.jit
def _unfinished(acc, PARTS: gl.constexpr):
    """Tensors as accumulators that a product is still being added to."""
    if PARTS == 1:
        return (warpgroup_mma_init(acc[0]),)
    elif PARTS == 2:
        return warpgroup_mma_init(acc[0]), warpgroup_mma_init(acc[1])
    else:
        return warpgroup_mma_init(acc[0]), warpgroup_mma_init(acc[1]), warpgroup_mma_init(acc[2])


@gluon.jit
def store(tile, out, buffer, row, column, LAYOUT: gl.constexpr):
    """Writes a tile to `out` at (row, column) by way of a buffer that the store before may still be
    reading."""
    tma.store_wait(0)
    buffer.store(gl.convert_layout(tile, LAYOUT))
    fence_async_shared()
    tma.store(out, [row, column], buffer)


@gluon.jit
def add_bias(tile, bias, present, column, N):
    """A tile plus the bias of its columns, where there is one."""
    if present != 0:
        COLUMNS: gl.constexpr = tile.shape[1]
        at = column + gl.arange(0, COLUMNS, layout=gl.SliceLayout(0, tile.type.layout))
        tile += gl.expand_dims(gl.load(bias + at, mask=at < N, other=0.0).to(gl.float32), 0)
    return tile


@gluon.jit
def halves(tile):
    """The left and the right half of a tile, both in the registers they were in."""
    ROWS: gl.constexpr = tile.shape[0]
    COLUMNS: gl.constexpr = tile.shape[1]
    return tile.reshape((ROWS, 2, COLUMNS // 2)).permute((0, 2, 1)).split()
