"""What makers say their devices can do: dense peaks by dtype, memory bandwidth, multiprocessors.

Matrix peaks without structured sparsity, accumulated in fp32 (as PyTorch has it), at boost clock; fp64 and
fp32 those of the matrix units where the device has such. A dtype without matrix units of its own is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sheet:
    """One line of a data sheet: TFLOP/s by dtype, GB/s, SMs or CUs."""

    model: str
    matches: str
    tflops: Mapping[str, float]
    gb_per_s: float
    multiprocessors: int
    source: str


def sheet_of(device: str) -> Sheet | None:
    """The data sheet for a name as `deviceProperties` carries it ("NVIDIA A100-SXM4-80GB")."""
    return next((sheet for sheet in SHEETS if re.search(sheet.matches, device, re.IGNORECASE)), None)


_A100 = {"fp64": 19.5, "fp32": 19.5, "tf32": 156, "bf16": 312, "fp16": 312, "int8": 624}
_A100_SHEET = (
    "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/"
    "nvidia-a100-datasheet-nvidia-us-2188504-web.pdf"
)
_HOPPER = {
    **{"fp64": 66.9, "fp32": 66.9},
    **{"tf32": 494.7, "bf16": 989.4, "fp16": 989.4, "fp8": 1978.9, "int8": 1978.9},
}
_H100_SHEET = "https://resources.nvidia.com/en-us-tensor-core/gtc22-whitepaper-hopper"
_H200_SHEET = "https://www.nvidia.com/en-us/data-center/h200/"

SHEETS = (
    Sheet("A100 SXM 80 GB", r"A100-SXM\d?-80GB", _A100, 2039, 108, _A100_SHEET),
    Sheet("A100 SXM 40 GB", r"A100-SXM\d?-40GB", _A100, 1555, 108, _A100_SHEET),
    Sheet("H100 SXM", r"H100 80GB HBM3", _HOPPER, 3350, 132, _H100_SHEET),
    Sheet("H200", r"H200$", _HOPPER, 4800, 132, _H200_SHEET),
)
