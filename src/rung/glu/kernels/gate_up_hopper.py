# mypy: ignore-errors
"""The gate-up kernel for sm_90 in Gluon, 2-byte floats: h = act(x @ gate.T + gate_bias) * (x @ up.T + ...).

A tile of gate rows and a tile of up rows, each from its own weight, land in the two halves of one stage, so
that a column's gate and up values belong to one thread and the GLU needs no exchange. Tiles 64 wide are for
two consumers in turn, where one wgmma serves both halves; tiles 128 wide for three together. See `ring`.
"""

from __future__ import annotations

import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import tma

from rung.glu.kernels.gate_up import place
from rung.glu.kernels.math import gated, narrow
from rung.glu.kernels.ring import (
    CONSUMERS,
    ROWS,
    add_bias,
    barriers,
    empty_stage,
    halves,
    product,
    product_together,
    quarters,
    store,
)

THREE = gl.constexpr(3)
"""Consumers that work together."""


@gluon.jit
def _fill(x, weights, ring, sizes, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr,
          STAGES: gl.constexpr, GROUP: gl.constexpr):  # fmt: skip
    """The producer: every tile this program has, step by step."""
    M, N, steps = sizes
    a, b, _, _ = ring
    gate_weight, up_weight = weights
    PARTS: gl.constexpr = BM // ROWS
    at = 0
    for tile in range(gl.program_id(0), gl.cdiv(M, BM) * gl.cdiv(N, BN), gl.num_programs(0)):
        tile_m, tile_n = place(tile, M, N, BM, BN, GROUP)
        for step in range(steps):
            stage, full = empty_stage(ring, at, (BM + 2 * BN) * BK * 2, STAGES)
            k = step * BK
            both = b.index(stage)
            tma.async_copy_global_to_shared(gate_weight, [tile_n * BN, k], full, both.slice(0, BN))
            tma.async_copy_global_to_shared(up_weight, [tile_n * BN, k], full, both.slice(BN, BN))
            for part in gl.static_range(PARTS):
                rows = a.index(stage * PARTS + part)
                tma.async_copy_global_to_shared(x, [tile_m * BM + part * ROWS, k], full, rows)
            at += 1


@gluon.jit
def _finish(g, u, outputs, biases, buffer, row, column, N, ACT: gl.constexpr, EAGER: gl.constexpr,
            SAVE: gl.constexpr):  # fmt: skip
    """The biases, the GLU, and the results of a buffer's columns, by way of it."""
    hidden, gate, up = outputs
    gate_bias, up_bias, present = biases
    dtype: gl.constexpr = hidden.dtype
    LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, buffer.shape[1], 16])
    g = add_bias(g, gate_bias, present & 1, column, N)
    u = add_bias(u, up_bias, present & 2, column, N)
    store(narrow(gated(g, u, ACT, EAGER, dtype), dtype), hidden, buffer, row, column, LAYOUT)
    if SAVE:
        store(narrow(g, dtype), gate, buffer, row, column, LAYOUT)
        store(narrow(u, dtype), up, buffer, row, column, LAYOUT)


@gluon.jit
def _consume(CONSUMER: gl.constexpr, outputs, biases, ring, buffers, turn, sizes,
             ACT: gl.constexpr, EAGER: gl.constexpr, SAVE: gl.constexpr,
             BM: gl.constexpr, BN: gl.constexpr, STAGES: gl.constexpr, GROUP: gl.constexpr):  # fmt: skip
    """One of two consumers: the products of every other tile, the GLU, and the result."""
    M, N, steps = sizes
    PARTS: gl.constexpr = BM // ROWS
    buffer = buffers.index(CONSUMER)
    first = gl.program_id(0) + CONSUMER * gl.num_programs(0)
    tiles = 0
    at = CONSUMER * steps
    for tile in range(first, gl.cdiv(M, BM) * gl.cdiv(N, BN), CONSUMERS * gl.num_programs(0)):
        tile_m, tile_n = place(tile, M, N, BM, BN, GROUP)
        acc, at = product(ring, turn, at, tiles, steps, CONSUMER, PARTS, STAGES, True)
        tiles += 1
        for part in gl.static_range(PARTS):
            g, u = halves(acc[part])
            row = tile_m * BM + part * ROWS
            _finish(g, u, outputs, biases, buffer, row, tile_n * BN, N, ACT, EAGER, SAVE)
    tma.store_wait(0)


@gluon.jit
def _consume_together(CONSUMER: gl.constexpr, outputs, biases, ring, buffers, sizes,
                      ACT: gl.constexpr, EAGER: gl.constexpr, SAVE: gl.constexpr,
                      BM: gl.constexpr, BN: gl.constexpr, STAGES: gl.constexpr,
                      GROUP: gl.constexpr):  # fmt: skip
    """One of three consumers: its rows of every tile, a quarter of the columns at a time: for more at once
    there are no registers beside the accumulators."""
    M, N, steps = sizes
    buffer = buffers.index(CONSUMER)
    at = 0
    for tile in range(gl.program_id(0), gl.cdiv(M, BM) * gl.cdiv(N, BN), gl.num_programs(0)):
        tile_m, tile_n = place(tile, M, N, BM, BN, GROUP)
        acc, at = product_together(ring, at, steps, CONSUMER, THREE, STAGES)
        g = quarters(acc[0])
        u = quarters(acc[1])
        row = tile_m * BM + CONSUMER * ROWS
        for i in gl.static_range(4):
            column = tile_n * BN + i * (BN // 4)
            _finish(g[i], u[i], outputs, biases, buffer, row, column, N, ACT, EAGER, SAVE)
    tma.store_wait(0)


def _gate_up_hopper(x, gate_weight, up_weight, hidden, gate, up, gate_bias, up_bias,
                    M: tl.int32, n: tl.int32, K: tl.int32, present: tl.int32,
                    ACT: tl.constexpr, EAGER: tl.constexpr, SAVE: tl.constexpr,
                    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr,
                    GROUP: tl.constexpr, TOGETHER: tl.constexpr):  # fmt: skip
    consumers: gl.constexpr = THREE if TOGETHER else CONSUMERS
    ring = (
        gl.allocate_shared_memory(x.dtype, [STAGES * (BM // ROWS), ROWS, BK], x.layout),
        gl.allocate_shared_memory(x.dtype, [STAGES, 2 * BN, BK], gate_weight.layout),
        barriers(STAGES),
        barriers(STAGES, THREE if TOGETHER else 1),
    )
    buffers = gl.allocate_shared_memory(x.dtype, [consumers, ROWS, hidden.block_type.shape[1]], hidden.layout)
    turn = barriers(CONSUMERS)
    sizes = (M, n * 8, gl.cdiv(K, BK))  # rows of 16 bytes
    outputs = (hidden, gate, up)
    biases = (gate_bias, up_bias, present)
    if TOGETHER:
        gl.warp_specialize([
            (_consume_together,
             (0, outputs, biases, ring, buffers, sizes, ACT, EAGER, SAVE, BM, BN, STAGES, GROUP)),
            (_consume_together,
             (1, outputs, biases, ring, buffers, sizes, ACT, EAGER, SAVE, BM, BN, STAGES, GROUP)),
            (_consume_together,
             (2, outputs, biases, ring, buffers, sizes, ACT, EAGER, SAVE, BM, BN, STAGES, GROUP)),
            (_fill, (x, (gate_weight, up_weight), ring, sizes, BM, BN, BK, STAGES, GROUP)),
        ], [4, 4, 1], [160, 160, 24])  # fmt: skip
    else:
        gl.warp_specialize([
            (_consume,
             (0, outputs, biases, ring, buffers, turn, sizes, ACT, EAGER, SAVE, BM, BN, STAGES, GROUP)),
            (_consume,
             (1, outputs, biases, ring, buffers, turn, sizes, ACT, EAGER, SAVE, BM, BN, STAGES, GROUP)),
            (_fill, (x, (gate_weight, up_weight), ring, sizes, BM, BN, BK, STAGES, GROUP)),
        ], [4, 1], [240, 24])  # fmt: skip
