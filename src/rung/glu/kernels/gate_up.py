# mypy: ignore-errors
"""h = act(x @ gate.T + gate_bias) * (x @ up.T + up_bias), both products in one kernel, the GLU in its
epilogue.

Portable: masked pointers, two accumulators. As in `pointwise`, sizes and strides come divided by `W`; with
W > 1 the innermost strides are 1. Offsets are 64-bit wherever a tensor may pass 2**31 elements.
"""

from __future__ import annotations

import triton
import triton.language as tl

from rung.glu.kernels.bias import bias_of
from rung.glu.kernels.dependent import depend, release
from rung.glu.kernels.math import dot, gated, narrow


@triton.jit
def place(tile, M, N, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    """Row and column of a tile: GROUP rows of tiles share each weight tile while it is in L2."""
    rows = tl.cdiv(M, BM)
    columns = tl.cdiv(N, BN)
    width = GROUP * columns
    first = (tile // width) * GROUP
    tall = min(rows - first, GROUP)
    return first + (tile % width) % tall, (tile % width) // tall


@triton.jit
def clear(counters, count):
    """Program 0 zeroes the counters of the kernel that runs next."""
    if tl.program_id(0) == 0:
        for at in range(0, count, 128):
            where = at + tl.arange(0, 128)
            tl.store(counters + where, tl.zeros((128,), tl.int32), mask=where < count)


def _gate_up(x, gate_weight, up_weight, gate_bias, up_bias, hidden, gate, up, counters,
             M: tl.int32, n: tl.int32, k: tl.int32, x_row: tl.int64, x_column: tl.int64,
             gate_row: tl.int64, gate_column: tl.int64, up_row: tl.int64, up_column: tl.int64,
             biases: tl.int32, count: tl.int32, CLEAR: tl.constexpr,
             ACT: tl.constexpr, EAGER: tl.constexpr, SAVE: tl.constexpr, PRECISION: tl.constexpr,
             W: tl.constexpr,
             BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr,
             GROUP: tl.constexpr, PDL: tl.constexpr):  # fmt: skip
    depend(PDL)
    release(PDL)
    if CLEAR:
        clear(counters, count)
    N = n * W
    K = k * W
    tile_m, tile_n = place(tl.program_id(0), M, N, BM, BN, GROUP)
    rm = (tile_m * BM + tl.arange(0, BM)).to(tl.int64)
    rn = (tile_n * BN + tl.arange(0, BN)).to(tl.int64)
    rk = tl.arange(0, BK)
    in_m = rm < M
    in_n = rn < N
    if W == 1:
        xk = rk * x_column
        gk = rk * gate_column
        uk = rk * up_column
        x_step = BK * x_column
        g_step = BK * gate_column
        u_step = BK * up_column
    else:
        xk = rk
        gk = rk
        uk = rk
        x_step = BK
        g_step = BK
        u_step = BK
    px = x + rm[:, None] * (x_row * W) + xk[None, :]
    pg = gate_weight + rn[None, :] * (gate_row * W) + gk[:, None]
    pu = up_weight + rn[None, :] * (up_row * W) + uk[:, None]
    g = tl.zeros((BM, BN), tl.float32)
    u = tl.zeros((BM, BN), tl.float32)
    for at in tl.range(0, K, BK, num_stages=STAGES):
        in_k = rk < K - at
        a = tl.load(px, mask=in_m[:, None] & in_k[None, :], other=0.0)
        wg = tl.load(pg, mask=in_k[:, None] & in_n[None, :], other=0.0)
        wu = tl.load(pu, mask=in_k[:, None] & in_n[None, :], other=0.0)
        g = dot(a, wg, g, PRECISION)
        u = dot(a, wu, u, PRECISION)
        px += x_step
        pg += g_step
        pu += u_step
    g += bias_of(gate_bias, rn, N, biases & 1)[None, :]
    u += bias_of(up_bias, rn, N, biases & 2)[None, :]
    out = rm[:, None] * N + rn[None, :]
    inside = in_m[:, None] & in_n[None, :]
    dtype: tl.constexpr = hidden.dtype.element_ty
    tl.store(hidden + out, narrow(gated(g, u, ACT, EAGER, dtype), dtype), mask=inside)
    if SAVE:
        tl.store(gate + out, narrow(g, dtype), mask=inside)
        tl.store(up + out, narrow(u, dtype), mask=inside)
