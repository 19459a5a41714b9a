# mypy: ignore-errors
"""Backward through gate and up for sm_90 in Gluon, 2-byte floats: grad_gate @ gate + grad_up @ up, for x.

The sum of two products is one, twice as deep: no part of it is rounded, written and read again. See `ring`
for the product.
"""

from __future__ import annotations

import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from rung.glu.kernels import tma
from rung.glu.kernels.gate_up import place
from rung.glu.kernels.math import narrow
from rung.glu.kernels.ring import CONSUMERS, ROWS, barriers, empty_stage, halves, product, store


@gluon.jit
def _fill(gate, up, ring, sizes, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr, STAGES: gl.constexpr,
          GROUP: gl.constexpr):  # fmt: skip
    """The producer: every tile this program has, step by step, gate's before up's."""
    M, N, steps = sizes
    at = 0
    for tile in range(gl.program_id(0), gl.cdiv(M, BM) * gl.cdiv(N, BN), gl.num_programs(0)):
        tile_m, tile_n = place(tile, M, N, BM, BN, GROUP)
        for step in range(steps):
            _load(gate, ring, at, tile_m * BM, tile_n * BN, step * BK, BM, STAGES)
            at += 1
        for step in range(steps):
            _load(up, ring, at, tile_m * BM, tile_n * BN, step * BK, BM, STAGES)
            at += 1


@gluon.jit
def _load(factors, ring, at, row, column, k, BM: gl.constexpr, STAGES: gl.constexpr):
    """Fill `at`: a tile of a gradient, and one of its weight."""
    grad, weight = factors
    a, b, _, _ = ring
    PARTS: gl.constexpr = BM // ROWS
    BYTES: gl.constexpr = (BM + b.shape[2]) * b.shape[1] * 2
    stage, full = empty_stage(ring, at, BYTES, STAGES)
    tma.load(weight, [k, column], full, b.index(stage))
    for part in gl.static_range(PARTS):
        tma.load(grad, [row + part * ROWS, k], full, a.index(stage * PARTS + part))


@gluon.jit
def _consume(CONSUMER: gl.constexpr, grad_x, ring, buffers, turn, sizes, BM: gl.constexpr, BN: gl.constexpr,
             STAGES: gl.constexpr, GROUP: gl.constexpr):  # fmt: skip
    """A consumer: the products of its tiles, and the result by way of its buffer, half a tile's width at a
    time."""
    M, N, steps = sizes
    dtype: gl.constexpr = grad_x.dtype
    PARTS: gl.constexpr = BM // ROWS
    HALF: gl.constexpr = BN // 2
    LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, HALF, 16])
    buffer = buffers.index(CONSUMER)
    first = gl.program_id(0) + CONSUMER * gl.num_programs(0)
    tiles = 0
    at = CONSUMER * 2 * steps
    for tile in range(first, gl.cdiv(M, BM) * gl.cdiv(N, BN), CONSUMERS * gl.num_programs(0)):
        tile_m, tile_n = place(tile, M, N, BM, BN, GROUP)
        acc, at = product(ring, turn, at, tiles, 2 * steps, CONSUMER, PARTS, STAGES, False)
        tiles += 1
        for part in gl.static_range(PARTS):
            left, right = halves(acc[part])
            row = tile_m * BM + part * ROWS
            store(narrow(left, dtype), grad_x, buffer, row, tile_n * BN, LAYOUT)
            store(narrow(right, dtype), grad_x, buffer, row, tile_n * BN + HALF, LAYOUT)
    tma.store_wait(0)


def _gate_up_backward_hopper(grad_gate, grad_up, gate_weight, up_weight, grad_x, M: tl.int32, n: tl.int32,
                             K: tl.int32, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                             STAGES: tl.constexpr, GROUP: tl.constexpr):  # fmt: skip
    ring = (
        gl.allocate_shared_memory(grad_x.dtype, [STAGES * (BM // ROWS), ROWS, BK], grad_gate.layout),
        gl.allocate_shared_memory(grad_x.dtype, [STAGES, BK, BN], gate_weight.layout),
        barriers(STAGES),
        barriers(STAGES),
    )
    buffers = gl.allocate_shared_memory(grad_x.dtype, [CONSUMERS, ROWS, BN // 2], grad_x.layout)
    turn = barriers(CONSUMERS)
    sizes = (M, n * 8, gl.cdiv(K, BK))  # rows of 16 bytes
    gate = (grad_gate, gate_weight)
    up = (grad_up, up_weight)
    gl.warp_specialize([
        (_consume, (0, grad_x, ring, buffers, turn, sizes, BM, BN, STAGES, GROUP)),
        (_consume, (1, grad_x, ring, buffers, turn, sizes, BM, BN, STAGES, GROUP)),
        (_fill, (gate, up, ring, sizes, BM, BN, BK, STAGES, GROUP)),
    ], [4, 1], [240, 24])  # fmt: skip
