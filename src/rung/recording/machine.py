"""What this machine can do, and what it is: asked before a recording, embedded in it afterwards."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
from typing import TYPE_CHECKING, Any

from rung.errors import MachineError, UsageError

if TYPE_CHECKING:
    import torch


def require_torch() -> Any:
    """The `torch` module. Raises MachineError with the command that installs it."""
    try:
        import torch
    except ImportError as error:
        raise MachineError(
            f'recording needs torch ({error}); install it with: pip install "rung[torch]"'
        ) from None
    # torch 2.13 prints "USDT:..." lines for every profiler start, at a level above Kineto's errors. Without a
    # device there is no CUPTI whose errors this could hide.
    if not torch.cuda.is_available():
        os.environ.setdefault("KINETO_LOG_LEVEL", "6")
    return torch


def resolve_device(text: str) -> torch.device:
    """`cpu`, `cuda` or `cuda:N` as a torch.device that exists here.

    Raises UsageError for any other text, MachineError for a CUDA device that is not there.
    """
    torch = require_torch()
    if not re.fullmatch(r"cpu|cuda(:\d+)?", text):
        raise UsageError(f"device {text!r} is not known: give cpu, cuda or cuda:N")
    device = torch.device(text)
    if device.type == "cuda":
        _require_cuda(text, device.index or 0)
    return device


def default_device() -> torch.device:
    """CUDA where there is one, else the CPU."""
    torch = require_torch()
    return resolve_device("cuda" if torch.cuda.is_available() else "cpu")


def _require_cuda(text: str, index: int) -> None:
    torch = require_torch()
    if torch.version.cuda is None and torch.version.hip is None:
        raise MachineError(
            f"device {text} was asked for, but torch {torch.__version__} is built without CUDA: "
            "record with --device cpu, or install a CUDA build (pip install --force-reinstall torch)"
        )
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if index >= count:
        here = f"this machine has {count}" if count else "torch finds no CUDA device here (see nvidia-smi)"
        raise MachineError(f"device {text} was asked for, but {here}: record with --device cpu")


def interpreted() -> bool:
    """Whether Triton's kernels run in its interpreter (`TRITON_INTERPRET=1`), whose times are no device's."""
    return os.environ.get("TRITON_INTERPRET") == "1"


def synchronize(device: torch.device) -> None:
    """Waits until the device has finished all the work given to it; nothing to wait for on a CPU."""
    if device.type == "cuda":
        require_torch().cuda.synchronize(device)


def resolve_dtype(text: str) -> torch.dtype:
    """A floating dtype from its name: `bfloat16`, `float32`, `bf16`, ... Raises UsageError for any other."""
    torch = require_torch()
    names = {"bf16": "bfloat16", "fp16": "float16", "half": "float16", "fp32": "float32", "fp64": "float64"}
    dtype = getattr(torch, names.get(text, text), None)
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise UsageError(f"dtype {text!r} is not known: give bfloat16, float16, float32 or float64")
    return dtype


def describe(device: torch.device) -> dict[str, Any]:
    """Device name, driver, and the versions a number depends on. Plain JSON values, None where absent."""
    torch = require_torch()
    cuda = device.type == "cuda"
    return {
        "device": str(device),
        "device_name": torch.cuda.get_device_name(device) if cuda else _cpu_name(),
        "driver": _driver_version() if cuda else None,
        "cuda": torch.version.cuda,
        "torch": str(torch.__version__),
        "triton": _version("triton"),
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
    }


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _cpu_name() -> str:
    """The model as Linux names it; elsewhere what the platform module knows, which may be just `arm64`."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            found = re.search(r"^model name\s*:\s*(.+)$", file.read(), re.MULTILINE)
    except OSError:
        found = None
    return found.group(1).strip() if found else platform.processor() or platform.machine()


def _driver_version() -> str | None:
    """The kernel driver's version as Linux shows it; asking nvidia-smi instead costs 50 ms or more."""
    try:
        with open("/proc/driver/nvidia/version", encoding="utf-8") as file:
            found = re.search(r"\s(\d+\.\d+[.\d]*)\s", file.readline())
    except OSError:
        return None
    return found.group(1) if found else None
