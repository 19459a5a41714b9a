"""What makers say their devices can do: dense peaks by dtype, memory bandwidth, multiprocessors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

DTYPES = ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8")

_TABLE = r"""
#              the name that ends in  fp64  fp32   tf32    bf16    fp16    fp8     int8   GB/s  SMs
V100-SXM       V100-SXM\d-\d+GB        7.8  15.7      -       -     125      -        -    900   80  v100
V100-PCIe      V100-PCIE-\d+GB           7    14      -       -     112      -        -    900   80  v100
V100S          V100S-PCIE-32GB         8.2  16.4      -       -     130      -        -   1134   80  v100
T4             T4                        -   8.1      -       -      65      -      130    320   40  t4
A100-SXM-40GB  A100-SXM4-40GB         19.5  19.5    156     312     312      -      624   1555  108  a100
A100-SXM-80GB  A100-SXM4-80GB         19.5  19.5    156     312     312      -      624   2039  108  a100
A100-PCIe-40GB A100-PCIE-40GB         19.5  19.5    156     312     312      -      624   1555  108  a100
A100-PCIe-80GB A100\s80GB\sPCIe       19.5  19.5    156     312     312      -      624   1935  108  a100
H100-SXM       H100\s80GB\sHBM3       66.9  66.9  494.7   989.4   989.4  1978.9  1978.9   3352  132  h100
H100-PCIe      H100\sPCIe             51.2  51.2    378     756     756    1513    1513   2039  114  h100
H100-NVL       H100\sNVL                60    60  417.5   835.5   835.5  1670.5  1670.5   3938  132  h100-nvl
H200           H200                   66.9  66.9  494.7   989.4   989.4  1978.9  1978.9   4800  132  h200
H200-NVL       H200\sNVL                60    60  417.5   835.5   835.5  1670.5  1670.5   4800  132  h200
B200           B200                     37    75   1100    2250    2250    4500    4500   7700  148  b200
L4             L4                        -  30.3     60     121     121   242.5   242.5    300   58  l4
L40S           L40S                      -  91.6    183  362.05  362.05     733     733    864  142  l40s
RTX-3090       RTX\s3090                 -  35.6   35.6      71      71       -     284    936   82  ampere
RTX-4090       RTX\s4090                 -  82.6   82.6   165.2   165.2   330.3   660.6   1008  128  ada
RTX-5090       RTX\s5090                 - 104.8  104.8   209.5   209.5     419     838   1792  170  blackwell
MI210          MI210                  45.3  45.3      -   181.0   181.0      -    181.0   1638  104  mi210
MI250          MI250                 45.25 45.25      - 181.05  181.05      -   181.05   1638  104  mi250
MI250X         MI250X                47.85 47.85      -  191.5   191.5      -    191.5   1638  110  mi250x
MI300X         MI300X(\s(OAM|VF))?   163.4 163.4  653.7  1307.4  1307.4  2614.9  2614.9   5325  304  mi300x
"""
"""TFLOP/s, GB/s, SMs or CUs. Without structured sparsity, accumulated in fp32 as PyTorch has it, at boost
clock; fp64 and fp32 on matrix units where the device has such for them. An MI250 or MI250X is two devices to
PyTorch, so theirs are halves. Where a data sheet gives rates with sparsity only (H100 NVL, H200 NVL, B200,
L4), half of them."""

_NVIDIA = "https://www.nvidia.com/en-us/data-center"
_IMAGES = "https://images.nvidia.com/aem-dam/Solutions/geforce"
_AMD = "https://www.amd.com/en/products/accelerators/instinct"
SOURCES = {
    "v100": "https://images.nvidia.com/content/technologies/volta/pdf/"
    "volta-v100-datasheet-update-us-1165301-r5.pdf",
    "t4": f"{_NVIDIA}/tesla-t4/",
    "a100": f"{_NVIDIA}/a100/",
    "h100": "https://resources.nvidia.com/en-us-tensor-core/gtc22-whitepaper-hopper",
    "h100-nvl": f"{_NVIDIA}/h100/",
    "h200": f"{_NVIDIA}/h200/",
    "b200": "https://resources.nvidia.com/en-us-blackwell-architecture/datasheet",
    "l4": f"{_NVIDIA}/l4/",
    "l40s": f"{_NVIDIA}/l40s/",
    "ampere": "https://www.nvidia.com/content/PDF/nvidia-ampere-ga-102-gpu-architecture-whitepaper-v2.pdf",
    "ada": f"{_IMAGES}/ada/nvidia-ada-gpu-architecture.pdf",
    "blackwell": f"{_IMAGES}/blackwell/nvidia-rtx-blackwell-gpu-architecture.pdf",
    "mi210": f"{_AMD}/mi200/mi210.html",
    "mi250": f"{_AMD}/mi200/mi250.html",
    "mi250x": f"{_AMD}/mi200/mi250x.html",
    "mi300x": f"{_AMD}/mi300/mi300x.html",
}


@dataclass(frozen=True, slots=True)
class Sheet:
    """One device's line: FLOP/s by dtype, bytes/s, SMs or CUs, and where they stand."""

    model: str
    pattern: str
    flop_per_s: Mapping[str, float]
    bytes_per_s: float
    multiprocessors: int
    source: str


def _sheet(line: str) -> Sheet:
    model, pattern, *numbers, source = line.split()
    *rates, bandwidth, multiprocessors = numbers
    flop_per_s = {
        dtype: float(f"{rate}e12") for dtype, rate in zip(DTYPES, rates, strict=True) if rate != "-"
    }
    return Sheet(model, pattern, flop_per_s, float(f"{bandwidth}e9"), int(multiprocessors), SOURCES[source])


SHEETS = tuple(_sheet(line) for line in _TABLE.splitlines() if line and not line.startswith("#"))


def sheet_of(device: str) -> Sheet | None:
    """The data sheet for a name as `deviceProperties` carries it (`"NVIDIA A100-SXM4-80GB"`); None if
    unlisted."""
    found = (
        sheet for sheet in SHEETS if re.fullmatch(rf"(\w+\s)*{sheet.pattern}", device.strip(), re.IGNORECASE)
    )
    return next(found, None)
