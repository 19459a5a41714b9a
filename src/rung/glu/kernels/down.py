# mypy: ignore-errors
"""y = h @ down.T + bias for few rows: bound by reading the weights, so K is split over enough blocks to
read fast.

Each block writes its fp32 part; the last one to finish a tile adds the parts in the order of K, so the
result does not depend on which came last. The counters start at zero because the gate-up kernel before
cleared them: no memset, no state between calls, safe on any stream and in a CUDA graph.
"""

from __future__ import annotations

import triton
import triton.language as tl

from rung.glu.kernels.bias import bias_of
from rung.glu.kernels.dependent import depend
from rung.glu.kernels.math import dot, narrow


@triton.jit
def add_parts(acc, parts, counter, out, inside, size, split, splits):
    """(whether this block is a tile's last, the tile's sum in the order of K if so): `acc` is one of `splits`
    parts, `out` where it lies in a part of `size` elements."""
    last = True
    if splits > 1:
        tl.store(parts + size * split + out, acc, mask=inside)
        tl.debug_barrier()  # the whole block's part is written before one thread says so
        last = tl.atomic_add(counter, 1, sem="acq_rel") == splits - 1
        if last:
            acc = tl.zeros_like(acc)
            for i in range(splits):
                acc += tl.load(parts + size * i + out, mask=inside, other=0.0, cache_modifier=".cg")
    return last, acc


def _down(hidden, weight, bias, y, parts, counters, M: tl.int32, N: tl.int32, k: tl.int32,
          weight_row: tl.int64, weight_column: tl.int64, has_bias: tl.int32, splits: tl.int32,
          steps: tl.int32, PRECISION: tl.constexpr, W: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
          BK: tl.constexpr, STAGES: tl.constexpr, PDL: tl.constexpr):  # fmt: skip
    K = k * W
    tile = tl.program_id(0) // splits
    split = tl.program_id(0) % splits
    rm = tl.arange(0, BM)
    rn = (tile * BN + tl.arange(0, BN)).to(tl.int64)
    rk = tl.arange(0, BK)
    in_m = rm < M
    in_n = rn < N
    start = split * steps * BK
    stop = min(start + steps * BK, K)
    if W == 1:
        wk = rk * weight_column
        w_step = BK * weight_column
        w_start = start * weight_column
    else:
        wk = rk
        w_step = BK
        w_start = start
    ph = hidden + rm[:, None].to(tl.int64) * K + start + rk[None, :]
    pw = weight + rn[None, :] * (weight_row * W) + w_start + wk[:, None]
    depend(PDL)
    acc = tl.zeros((BM, BN), tl.float32)
    for at in tl.range(start, stop, BK, num_stages=STAGES):
        in_k = rk < stop - at
        a = tl.load(ph, mask=in_m[:, None] & in_k[None, :], other=0.0)
        w = tl.load(pw, mask=in_k[:, None] & in_n[None, :], other=0.0)
        acc = dot(a, w, acc, PRECISION)
        ph += BK
        pw += w_step
    out = rm[:, None].to(tl.int64) * N + rn[None, :]
    inside = in_m[:, None] & in_n[None, :]
    last, acc = add_parts(acc, parts, counters + tile, out, inside, M.to(tl.int64) * N, split, splits)
    if last:
        acc += bias_of(bias, rn, N, has_bias)[None, :]
        tl.store(y + out, narrow(acc, y.dtype.element_ty), mask=inside)
