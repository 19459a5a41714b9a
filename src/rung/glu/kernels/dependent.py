# mypy: ignore-errors
"""Programmatic dependent launch (sm_90 and later): a kernel may start while the one before it ends.

`depend` waits until that one has finished and its writes are seen; before it, only memory that is not written
at that time may be touched. `release` lets the next kernel's blocks start as this one's leave room.
"""

from __future__ import annotations

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait


@triton.jit
def depend(PDL: tl.constexpr):
    if PDL:
        gdc_wait()


@triton.jit
def release(PDL: tl.constexpr):
    if PDL:
        gdc_launch_dependents()
