# mypy: ignore-errors
"""The two kernels for up to 16 rows: the weight's tile is the left operand, so that its rows fill the tensor
core's 64 and the batch's rows are the narrow side of the product.

As elsewhere sizes and strides come divided by `W`; with W > 1 the innermost strides are 1.
"""

from __future__ import annotations

import triton
import triton.language as tl

from rung.glu.kernels.bias import bias_of
from rung.glu.kernels.dependent import depend, release
from rung.glu.kernels.down import add_parts
from rung.glu.kernels.gate_up import clear
from rung.glu.kernels.math import dot, gated, narrow


@triton.jit
def along(stride, at, W: tl.constexpr):
    """Offsets of the columns `at`."""
    if W == 1:
        return at.to(tl.int64) * stride
    else:
        return at.to(tl.int64)


@triton.jit
def weights_at(rows, stride, at, stop, in_n, W: tl.constexpr, BK: tl.constexpr):
    """[BN, BK] of a weight from column `at` on; zero beyond its edges."""
    rk = tl.arange(0, BK)
    mask = in_n[:, None] & (rk < stop - at)[None, :]
    return tl.load(rows + along(stride, at + rk, W)[None, :], mask=mask, other=0.0)


@triton.jit
def batch_at(rows, stride, at, stop, in_m, W: tl.constexpr, BK: tl.constexpr):
    """[BK, BM] of x or h from column `at` on; zero beyond its edges."""
    rk = tl.arange(0, BK)
    mask = in_m[None, :] & (rk < stop - at)[:, None]
    return tl.load(rows + along(stride, at + rk, W)[:, None], mask=mask, other=0.0)


def _gate_up_sixteen(x, gate_weight, up_weight, gate_bias, up_bias, hidden, counters,
                     M: tl.int32, n: tl.int32, k: tl.int32, x_row: tl.int64, x_column: tl.int64,
                     gate_row: tl.int64, gate_column: tl.int64, up_row: tl.int64, up_column: tl.int64,
                     biases: tl.int32, count: tl.int32, ACT: tl.constexpr, EAGER: tl.constexpr,
                     PRECISION: tl.constexpr, W: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                     BK: tl.constexpr, STAGES: tl.constexpr, PDL: tl.constexpr):  # fmt: skip
    depend(PDL)
    release(PDL)
    clear(counters, count)
    N = n * W
    K = k * W
    rm = tl.arange(0, BM)
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    in_m = rm < M
    in_n = rn < N
    px = x + rm.to(tl.int64)[None, :] * (x_row * W)
    pg = gate_weight + rn.to(tl.int64)[:, None] * (gate_row * W)
    pu = up_weight + rn.to(tl.int64)[:, None] * (up_row * W)
    g = tl.zeros((BN, BM), tl.float32)
    u = tl.zeros((BN, BM), tl.float32)
    for at in tl.range(0, K, BK, num_stages=STAGES):
        a = batch_at(px, x_column, at, K, in_m, W, BK)
        wg = weights_at(pg, gate_column, at, K, in_n, W, BK)
        wu = weights_at(pu, up_column, at, K, in_n, W, BK)
        g = dot(wg, a, g, PRECISION)
        u = dot(wu, a, u, PRECISION)
    g += bias_of(gate_bias, rn, N, biases & 1)[:, None]
    u += bias_of(up_bias, rn, N, biases & 2)[:, None]
    dtype: tl.constexpr = hidden.dtype.element_ty
    h = narrow(gated(g, u, ACT, EAGER, dtype), dtype)
    tl.store(hidden + rm.to(tl.int64)[None, :] * N + rn[:, None], h, mask=in_m[None, :] & in_n[:, None])


def _down_sixteen(hidden, weight, bias, y, parts, counters, M: tl.int32, N: tl.int32, k: tl.int32,
                  weight_row: tl.int64, weight_column: tl.int64, has_bias: tl.int32, splits: tl.int32,
                  steps: tl.int32, PRECISION: tl.constexpr, W: tl.constexpr, BM: tl.constexpr,
                  BN: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr,
                  PDL: tl.constexpr):  # fmt: skip
    K = k * W
    tile = tl.program_id(0) // splits
    split = tl.program_id(0) % splits
    rm = tl.arange(0, BM)
    rn = tile * BN + tl.arange(0, BN)
    in_m = rm < M
    in_n = rn < N
    start = split * steps * BK
    stop = min(start + steps * BK, K)
    ph = hidden + rm.to(tl.int64)[None, :] * K
    pw = weight + rn.to(tl.int64)[:, None] * (weight_row * W)
    # The first weights come while the gate-up kernel still runs. They are multiplied last: before the loop
    # they would hold up its loads until h is there.
    first = weights_at(pw, weight_column, start, stop, in_n, W, BK)
    depend(PDL)
    first_hidden = batch_at(ph, 1, start, stop, in_m, W, BK)
    acc = tl.zeros((BN, BM), tl.float32)
    for at in tl.range(start + BK, stop, BK, num_stages=STAGES):
        a = batch_at(ph, 1, at, stop, in_m, W, BK)
        w = weights_at(pw, weight_column, at, stop, in_n, W, BK)
        acc = dot(w, a, acc, PRECISION)
    acc = dot(first, first_hidden, acc, PRECISION)
    out = rm.to(tl.int64)[None, :] * N + rn[:, None]
    inside = in_m[None, :] & in_n[:, None]
    last, acc = add_parts(acc, parts, counters + tile, out, inside, M.to(tl.int64) * N, split, splits)
    if last:
        acc += bias_of(bias, rn, N, has_bias)[:, None]
        tl.store(y + out, narrow(acc, y.dtype.element_ty), mask=inside)
