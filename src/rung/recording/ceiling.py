"""What a device can do at most: the fastest copy and the fastest matrix products it was seen to do.

Inputs are random, since a product of zeros draws less power and runs at a higher clock. What counts is the
fastest of several rounds: a ceiling is what nothing exceeds, and short work runs before the power cap sets
in.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rung.errors import UsageError
from rung.recording.machine import describe, require_torch

if TYPE_CHECKING:
    import torch

Run = Callable[[], object]

DTYPES = {
    "bf16": "bfloat16",
    "fp16": "float16",
    "tf32": "float32",
    "fp32": "float32",
    "fp64": "float64",
    "fp8": "float8_e4m3fn",
    "int8": "int8",
}
"""What is multiplied, and torch's name for the dtype of its matrices."""

SIZES = {"cuda": (4096, 8192), "cpu": (512, 1024)}
"""Rows and columns of square products; of several the faster one counts."""

COPY_BYTES = {"cuda": 1 << 30, "cpu": 1 << 28}
"""Beyond the cache, which would flatter."""

CALLS = 5
"""Calls in a row that are timed at once: what an event adds, some µs, would be 2 % of a 4096 product in bf16
on an H200. Many more would meet its power cap."""

ROUNDS = 5
PATIENCE_S = 0.6
"""For the rounds of one measurement: a 8192 product in fp64 takes a second where a GPU has few such units."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Bytes read and written a second, FLOP a second by dtype, multiprocessors, and what it ran on.

    `skipped` has the reasons for dtypes that this device, or this torch, does not multiply.
    """

    bytes_per_s: float
    flop_per_s: dict[str, float]
    skipped: dict[str, str]
    multiprocessors: int | None
    machine: dict[str, Any]


def measure(device: torch.device, dtypes: Sequence[str] = tuple(DTYPES)) -> Measured:
    """Measure copies and products on a device; a few seconds on a GPU.

    Raises:
        UsageError: a dtype is none of `DTYPES`.
    """
    for dtype in dtypes:
        if dtype not in DTYPES:
            raise UsageError(f"there is no ceiling for {dtype!r}: give some of {', '.join(DTYPES)}.")
    torch = require_torch()
    flop_per_s: dict[str, float] = {}
    skipped: dict[str, str] = {}
    with torch.inference_mode():
        for dtype in dtypes:
            try:
                flop_per_s[dtype] = max(_product(device, dtype, n) for n in SIZES[device.type])
            except (RuntimeError, NotImplementedError, AttributeError) as error:
                skipped[dtype] = str(error).splitlines()[0]
        bytes_per_s = _copy(device)
    properties = torch.cuda.get_device_properties(device) if device.type == "cuda" else None
    cores = properties.multi_processor_count if properties else None
    return Measured(bytes_per_s, flop_per_s, skipped, cores, describe(device))


def _copy(device: torch.device) -> float:
    """Bytes read and written a second by a copy on the device."""
    torch = require_torch()
    source = torch.ones(COPY_BYTES[device.type], dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    return 2 * COPY_BYTES[device.type] / _fastest_s(device, lambda: target.copy_(source))


def _product(device: torch.device, dtype: str, n: int) -> float:
    """FLOP a second of an product of two [n, n], the right one stored as `nn.Linear` stores its weight."""
    torch = require_torch()
    a, b = (_random(torch, n, dtype, device) for _ in range(2))
    with _tf32(torch, dtype):
        return 2 * n**3 / _fastest_s(device, _multiplication(torch, a, b.t(), dtype))


def _multiplication(torch: Any, a: Any, b: Any, dtype: str) -> Run:
    if dtype == "fp8":
        one = torch.ones((), device=a.device)
        return lambda: torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16)
    if dtype == "int8":
        return lambda: torch._int_mm(a, b)
    if dtype == "tf32" and a.device.type != "cuda":
        raise NotImplementedError("only CUDA devices multiply fp32 matrices in TF32")
    return lambda: a @ b


def _random(torch: Any, n: int, dtype: str, device: torch.device) -> Any:
    kind = getattr(torch, DTYPES[dtype])
    if dtype == "int8":
        return torch.randint(-128, 128, (n, n), dtype=kind, device=device)
    if dtype == "fp8":
        return torch.randn(n, n, device=device).to(kind)
    return torch.randn(n, n, dtype=kind, device=device)


@contextmanager
def _tf32(torch: Any, dtype: str) -> Iterator[None]:
    """fp32 products in TF32 for `"tf32"`, and in fp32 for anything else."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high" if dtype == "tf32" else "highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _fastest_s(device: torch.device, run: Run) -> float:
    """Seconds a call of the fastest of some rounds, after a first call that sets up the library."""
    run()
    clock = _cuda_ns if device.type == "cuda" else _cpu_ns
    fastest, begin = clock(device, run), time.monotonic()
    for _ in range(ROUNDS - 1):
        if time.monotonic() - begin > PATIENCE_S:
            break
        fastest = min(fastest, clock(device, run))
    return max(fastest, 1) / CALLS / 1e9


def _cpu_ns(device: torch.device, run: Run) -> int:
    begin = time.perf_counter_ns()
    for _ in range(CALLS):
        run()
    return time.perf_counter_ns() - begin


def _cuda_ns(device: torch.device, run: Run) -> int:
    """Between two events on the stream."""
    torch = require_torch()
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    with torch.cuda.device(device):
        first.record()
        for _ in range(CALLS):
            run()
        last.record()
        last.synchronize()
    milliseconds: float = first.elapsed_time(last)
    return round(milliseconds * 1e6)
