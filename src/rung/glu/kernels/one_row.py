# mypy: ignore-errors
"""The two kernels for one row: every weight is read once and multiplied on ordinary cores, for a matrix unit
would be idle in all rows but one. Nothing is split over blocks, so nothing is left to add up at the end.

As elsewhere sizes and strides come divided by `W`; with W > 1 the innermost strides are 1.
"""

from __future__ import annotations

import triton
import triton.language as tl

from rung.glu.kernels.bias import bias_of
from rung.glu.kernels.dependent import depend, release
from rung.glu.kernels.math import gated, narrow


@triton.jit
def rows_of(weight, row_stride, column_stride, first, N, K, at, W: tl.constexpr, BN: tl.constexpr,
            BK: tl.constexpr):  # fmt: skip
    """[BN, BK] of a weight [N, K] from row `first`, column `at` on; zero beyond its edges."""
    rn = first + tl.arange(0, BN)
    rk = at + tl.arange(0, BK)
    columns = rk.to(tl.int64) * column_stride if W == 1 else rk
    where = weight + rn.to(tl.int64)[:, None] * (row_stride * W) + columns[None, :]
    return tl.load(where, mask=(rn < N)[:, None] & (rk < K)[None, :], other=0.0)


@triton.jit
def part_of(row, column_stride, K, at, W: tl.constexpr, BK: tl.constexpr):
    """[1, BK] of the one row, in fp32."""
    rk = at + tl.arange(0, BK)
    columns = rk.to(tl.int64) * column_stride if W == 1 else rk
    return tl.load(row + columns, mask=rk < K, other=0.0).to(tl.float32)[None, :]


def _gate_up_row(x, gate_weight, up_weight, gate_bias, up_bias, hidden,
                 n: tl.int32, k: tl.int32, x_column: tl.int64, gate_row: tl.int64, gate_column: tl.int64,
                 up_row: tl.int64, up_column: tl.int64, biases: tl.int32,
                 ACT: tl.constexpr, EAGER: tl.constexpr, W: tl.constexpr, BN: tl.constexpr,
                 BK: tl.constexpr, PDL: tl.constexpr):  # fmt: skip
    depend(PDL)
    release(PDL)
    N = n * W
    K = k * W
    first = tl.program_id(0) * BN
    g = tl.zeros((BN, BK), tl.float32)
    u = tl.zeros((BN, BK), tl.float32)
    # What a step multiplies comes while the step before is added up.
    wg = rows_of(gate_weight, gate_row, gate_column, first, N, K, 0, W, BN, BK)
    wu = rows_of(up_weight, up_row, up_column, first, N, K, 0, W, BN, BK)
    a = part_of(x, x_column, K, 0, W, BK)
    for at in range(0, K, BK):
        next_g = rows_of(gate_weight, gate_row, gate_column, first, N, K, at + BK, W, BN, BK)
        next_u = rows_of(up_weight, up_row, up_column, first, N, K, at + BK, W, BN, BK)
        next_a = part_of(x, x_column, K, at + BK, W, BK)
        g += wg.to(tl.float32) * a
        u += wu.to(tl.float32) * a
        wg = next_g
        wu = next_u
        a = next_a
    rn = first + tl.arange(0, BN)
    in_n = rn < N
    g = tl.sum(g, 1) + bias_of(gate_bias, rn, N, biases & 1)
    u = tl.sum(u, 1) + bias_of(up_bias, rn, N, biases & 2)
    dtype: tl.constexpr = hidden.dtype.element_ty
    tl.store(hidden + rn, narrow(gated(g, u, ACT, EAGER, dtype), dtype), mask=in_n)


def _down_row(hidden, weight, bias, y, N: tl.int32, k: tl.int32, weight_row: tl.int64,
              weight_column: tl.int64, has_bias: tl.int32, W: tl.constexpr, BN: tl.constexpr,
              BK: tl.constexpr, PDL: tl.constexpr):  # fmt: skip
    K = k * W
    first = tl.program_id(0) * BN
    acc = tl.zeros((BN, BK), tl.float32)
    # The first weights come while the gate-up kernel still runs.
    w = rows_of(weight, weight_row, weight_column, first, N, K, 0, W, BN, BK)
    depend(PDL)
    a = part_of(hidden, 1, K, 0, W, BK)
    for at in range(0, K, BK):
        next_w = rows_of(weight, weight_row, weight_column, first, N, K, at + BK, W, BN, BK)
        next_a = part_of(hidden, 1, K, at + BK, W, BK)
        acc += w.to(tl.float32) * a
        w = next_w
        a = next_a
    rn = first + tl.arange(0, BN)
    in_n = rn < N
    out = tl.sum(acc, 1) + bias_of(bias, rn, N, has_bias)
    tl.store(y + rn, narrow(out, y.dtype.element_ty), mask=in_n)
