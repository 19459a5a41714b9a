# mypy: ignore-errors
"""The gate-up kernel for sm_90 and later: tiles by TMA, one wgmma of twice the width for gate and up
together.

The two weights stay where they are. Seen from the lower of the two addresses they are one tensor [2, N, K]
whose first stride is the distance between them, so one TMA box [2, BN, BK] brings a gate tile and an up
tile into the halves of one buffer, and one product of width 2 * BN serves both. In the accumulator a
column's gate and up values then belong to the same thread. `swapped` says that up is the lower of the two.
"""

from __future__ import annotations

import triton.language as tl

from rung.glu.kernels.bias import bias_of
from rung.glu.kernels.gate_up import place
from rung.glu.kernels.math import dot, gated, narrow


def _gate_up_tma(x, weights, hidden, first, second, first_bias, second_bias,
                 M: tl.int32, n: tl.int32, k: tl.int32, biases: tl.int32, swapped: tl.int32,
                 programs: tl.int32,
                 ACT: tl.constexpr, EAGER: tl.constexpr, SAVE: tl.constexpr, PRECISION: tl.constexpr,
                 W: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr,
                 GROUP: tl.constexpr):  # fmt: skip
    N = n * W
    K = k * W
    dtype: tl.constexpr = hidden.dtype
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * tl.cdiv(N, BN), programs, flatten=True):
        tile_m, tile_n = place(tile, M, N, BM, BN, GROUP)
        acc = tl.zeros((BM, 2 * BN), tl.float32)
        for at in range(0, K, BK):
            a = x.load([tile_m * BM, at])
            w = tl.reshape(weights.load([0, tile_n * BN, at]), (2 * BN, BK))
            acc = dot(a, w.T, acc, PRECISION)
        a, b = tl.split(tl.permute(tl.reshape(acc, (BM, 2, BN)), (0, 2, 1)))
        rn = tile_n * BN + tl.arange(0, BN)
        a += bias_of(first_bias, rn, N, biases & 1)[None, :]
        b += bias_of(second_bias, rn, N, biases & 2)[None, :]
        if swapped != 0:
            h = gated(b, a, ACT, EAGER, dtype)
        else:
            h = gated(a, b, ACT, EAGER, dtype)
        hidden.store([tile_m * BM, tile_n * BN], narrow(h, dtype))
        if SAVE:
            first.store([tile_m * BM, tile_n * BN], narrow(a, dtype))
            second.store([tile_m * BM, tile_n * BN], narrow(b, dtype))
