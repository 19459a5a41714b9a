# mypy: ignore-errors
"""Backward through down and the GLU for sm_90 in Gluon, 2-byte floats: d = grad @ down, then the gradients of
gate and up from d, gate and up, all in one kernel: d never reaches memory.

The epilogue moves twice the bytes of the product, so it goes piece by piece, 64 rows of a quarter of the
tile's columns. A consumer asks for the gate and up of the first pieces before its products begin. Their
gradients are written over them in shared memory and leave by TMA, and a slot that is free again takes the
piece SLOTS further on. See `ring` for the product.

All pieces run the same instructions, while the accumulators move up in registers. Written out piece by piece
for two consumers the kernel is 153 KB for a tile 192 rows high: fetching that takes longer than the moves.
"""

from __future__ import annotations

import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier

from rung.glu.kernels import tma
from rung.glu.kernels.gate_up import place
from rung.glu.kernels.math import activate, chain, narrow
from rung.glu.kernels.ring import CONSUMERS, ROWS, barriers, empty_stage, halves, product

SLOTS = gl.constexpr(4)
"""Pieces of a tile's width, each with a slot of its own: twice 64 x 32 elements."""


@gluon.jit
def _fill(grad, down, ring, sizes, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr,
          STAGES: gl.constexpr, GROUP: gl.constexpr):  # fmt: skip
    """The producer: every tile this program has, step by step."""
    M, N, steps = sizes
    a, b, _, _ = ring
    PARTS: gl.constexpr = BM // ROWS
    at = 0
    for tile in range(gl.program_id(0), gl.cdiv(M, BM) * gl.cdiv(N, BN), gl.num_programs(0)):
        tile_m, tile_n = place(tile, M, N, BM, BN, GROUP)
        for step in range(steps):
            stage, full = empty_stage(ring, at, (BM + BN) * BK * 2, STAGES)
            k = step * BK
            tma.load(down, [k, tile_n * BN], full, b.index(stage))
            for part in gl.static_range(PARTS):
                rows = a.index(stage * PARTS + part)
                tma.load(grad, [tile_m * BM + part * ROWS, k], full, rows)
            at += 1


@gluon.jit
def _fetch(inputs, slots, ready, slot, row, column):
    """Asks for the piece of gate and of up at (row, column), into a slot."""
    gate, up = slots
    BYTES: gl.constexpr = 2 * gate.shape[1] * gate.shape[2] * 2
    mbarrier.expect(ready.index(slot), BYTES)
    tma.load(inputs[0], [row, column], ready.index(slot), gate.index(slot))
    tma.load(inputs[1], [row, column], ready.index(slot), up.index(slot))


@gluon.jit
def _differentiate(d, outputs, slots, ready, parity, slot, row, column, ACT: gl.constexpr):
    """Turns gate and up in a slot, once they are there, into their gradients for d, and sends them off."""
    gate, up = slots[0].index(slot), slots[1].index(slot)
    dtype: gl.constexpr = gate.dtype
    LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, gate.shape[1], 16])
    mbarrier.wait(ready.index(slot), parity)
    g = gate.load(LAYOUT).to(gl.float32)
    u = up.load(LAYOUT).to(gl.float32)
    d = gl.convert_layout(d, LAYOUT)
    gate.store(narrow(chain(g, d * u, ACT), dtype))
    up.store(narrow(d * activate(g, ACT), dtype))
    fence_async_shared()
    tma.store(outputs[0], [row, column], gate)
    tma.store(outputs[1], [row, column], up)


@gluon.jit
def _pieces(acc, PARTS: gl.constexpr):
    """The accumulators of a tile, cut into the pieces of its epilogue."""
    pieces = ()
    for part in gl.static_range(PARTS):
        left, right = halves(acc[part])
        pieces = pieces + halves(left) + halves(right)
    return pieces


@gluon.jit
def _consume(CONSUMER: gl.constexpr, inputs, outputs, ring, slots, ready, turn, sizes, ACT: gl.constexpr,
             BM: gl.constexpr, BN: gl.constexpr, STAGES: gl.constexpr, GROUP: gl.constexpr):  # fmt: skip
    """A consumer: the products of its tiles, and piece by piece the gradients."""
    M, N, steps = sizes
    PARTS: gl.constexpr = BM // ROWS
    WIDTH: gl.constexpr = BN // SLOTS
    PIECES: gl.constexpr = PARTS * SLOTS
    MINE: gl.constexpr = CONSUMER * SLOTS
    AT_ONCE: gl.constexpr = 1 if ACT == "gelu" else 2  # pieces written out; two of erf's would spill
    first = gl.program_id(0) + CONSUMER * gl.num_programs(0)
    tiles = 0
    at = CONSUMER * steps
    for tile in range(first, gl.cdiv(M, BM) * gl.cdiv(N, BN), CONSUMERS * gl.num_programs(0)):
        tile_m, tile_n = place(tile, M, N, BM, BN, GROUP)
        row = tile_m * BM
        column = tile_n * BN
        tma.store_wait(0)
        for slot in range(SLOTS):
            _fetch(inputs, slots, ready, MINE + slot, row, column + slot * WIDTH)
        acc, at = product(ring, turn, at, tiles, steps, CONSUMER, PARTS, STAGES, False)
        pieces = _pieces(acc, PARTS)
        for done in range(0, PIECES, AT_ONCE):
            for i in gl.static_range(AT_ONCE):
                part = (done + i) // SLOTS
                slot = (done + i) % SLOTS
                parity = (tiles * PARTS + part) & 1
                _differentiate(pieces[i], outputs, slots, ready, parity, MINE + slot,
                               row + part * ROWS, column + slot * WIDTH, ACT)  # fmt: skip
                # The piece before has left its slot, or will as soon as all but this one's have.
                following = done + i - 1 + SLOTS
                if (following >= SLOTS) & (following < PIECES):
                    tma.store_wait(2)
                    slot = following % SLOTS
                    _fetch(inputs, slots, ready, MINE + slot,
                           row + following // SLOTS * ROWS, column + slot * WIDTH)  # fmt: skip
            pieces = pieces[AT_ONCE:] + pieces[:AT_ONCE]
        tiles += 1
    tma.store_wait(0)


def _down_backward_hopper(grad, down, gate, up, grad_gate, grad_up, M: tl.int32, n: tl.int32, K: tl.int32,
                          ACT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                          STAGES: tl.constexpr, GROUP: tl.constexpr):  # fmt: skip
    ring = (
        gl.allocate_shared_memory(grad.dtype, [STAGES * (BM // ROWS), ROWS, BK], grad.layout),
        gl.allocate_shared_memory(grad.dtype, [STAGES, BK, BN], down.layout),
        barriers(STAGES),
        barriers(STAGES),
    )
    slots = (
        gl.allocate_shared_memory(grad.dtype, [CONSUMERS * SLOTS, ROWS, BN // SLOTS], gate.layout),
        gl.allocate_shared_memory(grad.dtype, [CONSUMERS * SLOTS, ROWS, BN // SLOTS], gate.layout),
    )
    ready = barriers(CONSUMERS * SLOTS)
    turn = barriers(CONSUMERS)
    sizes = (M, n * 8, gl.cdiv(K, BK))  # rows of 16 bytes
    inputs = (gate, up)
    outputs = (grad_gate, grad_up)
    gl.warp_specialize([
        (_consume, (0, inputs, outputs, ring, slots, ready, turn, sizes, ACT, BM, BN, STAGES, GROUP)),
        (_consume, (1, inputs, outputs, ring, slots, ready, turn, sizes, ACT, BM, BN, STAGES, GROUP)),
        (_fill, (grad, down, ring, sizes, BM, BN, BK, STAGES, GROUP)),
    ], [4, 1], [240, 24])  # fmt: skip
