# mypy: ignore-errors
"""The gate-up kernel for sm_90 in Gluon, 2-byte floats: h = act(x @ gate.T + gate_bias) * (x @ up.T + ...).

A tile of gate rows and a tile of up rows, each from its own weight, land in the two halves of one stage, so
one wgmma of twice the width serves both, and in the accumulator a column's gate and up values belong to one
thread: the GLU needs no exchange. See `ring` for who does what.
"""

from __future__ import annotations

import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from rung.glu.kernels import tma
from rung.glu.kernels.gate_up import place
from rung.glu.kernels.math import gated, narrow
from rung.glu.kernels.ring import CONSUMERS, ROWS, add_bias, barriers, empty_stage, halves, product, store


@gluon.jit
def _fill(x, weights, ring, sizes, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr,
          STAGES: gl.constexpr):  # fmt: skip
    """The producer: every tile this program has, step by step."""
    M, N, steps, group = sizes
    a, b, _, _ = ring
    gate_weight, up_weight = weights
    PARTS: gl.constexpr = BM // ROWS
    at = 0
    for tile in range(gl.program_id(0), gl.cdiv(M, BM) * gl.cdiv(N, BN), gl.num_programs(0)):
        tile_m, tile_n = place(tile, M, N, BM, BN, group)
        for step in range(steps):
            stage, full = empty_stage(ring, at, (BM + 2 * BN) * BK * 2, STAGES)
            k = step * BK
            both = b.index(stage)
            tma.load(gate_weight, [tile_n * BN, k], full, both.slice(0, BN))
            tma.load(up_weight, [tile_n * BN, k], full, both.slice(BN, BN))
            for part in gl.static_range(PARTS):
                rows = a.index(stage * PARTS + part)
                tma.load(x, [tile_m * BM + part * ROWS, k], full, rows)
            at += 1


@gluon.jit
def _consume(CONSUMER: gl.constexpr, outputs, biases, ring, buffers, turn, sizes,
             ACT: gl.constexpr, EAGER: gl.constexpr, SAVE: gl.constexpr,
             BM: gl.constexpr, BN: gl.constexpr, STAGES: gl.constexpr):  # fmt: skip
    """A consumer: the products of its tiles, the GLU, and the result by way of its buffer."""
    hidden, gate, up = outputs
    gate_bias, up_bias, present = biases
    M, N, steps, group = sizes
    dtype: gl.constexpr = hidden.dtype
    PARTS: gl.constexpr = BM // ROWS
    LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BN, 16])
    buffer = buffers.index(CONSUMER)
    first = gl.program_id(0) + CONSUMER * gl.num_programs(0)
    tiles = 0
    at = CONSUMER * steps
    for tile in range(first, gl.cdiv(M, BM) * gl.cdiv(N, BN), CONSUMERS * gl.num_programs(0)):
        tile_m, tile_n = place(tile, M, N, BM, BN, group)
        column = tile_n * BN
        acc, at = product(ring, turn, at, tiles, steps, CONSUMER, PARTS, STAGES, True)
        tiles += 1
        for part in gl.static_range(PARTS):
            g, u = halves(acc[part])
            g = add_bias(g, gate_bias, present & 1, column, N)
            u = add_bias(u, up_bias, present & 2, column, N)
            row = tile_m * BM + part * ROWS
            store(narrow(gated(g, u, ACT, EAGER, dtype), dtype), hidden, buffer, row, column, LAYOUT)
            if SAVE:
                store(narrow(g, dtype), gate, buffer, row, column, LAYOUT)
                store(narrow(u, dtype), up, buffer, row, column, LAYOUT)
    tma.store_wait(0)


def _gate_up_hopper(x, gate_weight, up_weight, hidden, gate, up, gate_bias, up_bias,
                    M: tl.int32, n: tl.int32, K: tl.int32, present: tl.int32, group: tl.int32,
                    ACT: tl.constexpr, EAGER: tl.constexpr, SAVE: tl.constexpr,
                    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                    STAGES: tl.constexpr):  # fmt: skip
    ring = (
        gl.allocate_shared_memory(x.dtype, [STAGES * (BM // ROWS), ROWS, BK], x.layout),
        gl.allocate_shared_memory(x.dtype, [STAGES, 2 * BN, BK], gate_weight.layout),
        barriers(STAGES),
        barriers(STAGES),
    )
    buffers = gl.allocate_shared_memory(x.dtype, [CONSUMERS, ROWS, BN], hidden.layout)
    turn = barriers(CONSUMERS)
    sizes = (M, n * 8, gl.cdiv(K, BK), group)  # rows of 16 bytes
    outputs = (hidden, gate, up)
    biases = (gate_bias, up_bias, present)
    gl.warp_specialize([
        (_consume, (0, outputs, biases, ring, buffers, turn, sizes, ACT, EAGER, SAVE, BM, BN, STAGES)),
        (_consume, (1, outputs, biases, ring, buffers, turn, sizes, ACT, EAGER, SAVE, BM, BN, STAGES)),
        (_fill, (x, (gate_weight, up_weight), ring, sizes, BM, BN, BK, STAGES)),
    ], [4, 1], [240, 24])  # fmt: skip
