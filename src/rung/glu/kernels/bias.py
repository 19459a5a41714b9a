# mypy: ignore-errors
"""What is added to a product before its epilogue."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def bias_of(bias, outputs, N, present):
    """The bias of outputs `outputs`, below N, in fp32; zero where `present` says that there is none, for a
    masked load costs no second binary."""
    # Not the `&` of a vector and a scalar, which Triton 3.9 does not interpret.
    mask = tl.where(outputs < N, present, 0) != 0
    return tl.load(bias + outputs, mask=mask, other=0.0).to(tl.float32)
