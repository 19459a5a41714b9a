# mypy: ignore-errors
"""GLU of two tensors in memory, and its gradient: one pass over rows whose columns lie side by side.

`W` is the number of elements that every width and row stride is a multiple of (16 bytes' worth, or 1):
sizes come divided by it, so the compiler sees the alignment and no size is ever specialised on.
"""

from __future__ import annotations

import triton
import triton.language as tl

from rung.glu.kernels.math import activate, chain, narrow


@triton.jit
def _place(columns, W: tl.constexpr, BLOCK: tl.constexpr):
    """(row, columns of this block, mask)."""
    width = columns * W
    blocks = tl.cdiv(width, BLOCK)
    block = tl.program_id(0).to(tl.int64)
    row = block // blocks
    at = (block % blocks) * BLOCK + tl.arange(0, BLOCK)
    return row, at, at < width


def _glu(gate, up, out, columns: tl.int64, gate_row: tl.int64, up_row: tl.int64,
         ACT: tl.constexpr, W: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    row, at, mask = _place(columns, W, BLOCK)
    g = tl.load(gate + row * (gate_row * W) + at, mask=mask, other=0.0).to(tl.float32)
    u = tl.load(up + row * (up_row * W) + at, mask=mask, other=0.0).to(tl.float32)
    h = activate(g, ACT) * u
    tl.store(out + row * (columns * W) + at, narrow(h, out.dtype.element_ty), mask=mask)


def _glu_backward(grad, gate, up, grad_gate, grad_up, columns: tl.int64, grad_row: tl.int64,
                  gate_row: tl.int64, up_row: tl.int64, out_row: tl.int64,
                  ACT: tl.constexpr, W: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    row, at, mask = _place(columns, W, BLOCK)
    d = tl.load(grad + row * (grad_row * W) + at, mask=mask, other=0.0).to(tl.float32)
    g = tl.load(gate + row * (gate_row * W) + at, mask=mask, other=0.0).to(tl.float32)
    u = tl.load(up + row * (up_row * W) + at, mask=mask, other=0.0).to(tl.float32)
    out = row * (out_row * W) + at
    tl.store(grad_gate + out, narrow(chain(g, d * u, ACT), grad_gate.dtype.element_ty), mask=mask)
    tl.store(grad_up + out, narrow(d * activate(g, ACT), grad_up.dtype.element_ty), mask=mask)
