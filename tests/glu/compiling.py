"""Compiling Rung's kernels for an architecture without having it."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import triton

from rung.glu.kernels.compiling import type_of
from rung.glu.kernels.launch import Kernel, Spec


def compile_for(kernel: Kernel, spec: Spec, arch: int, fixed: dict[str, str] | None = None) -> Any:
    """The binary of `spec` for sm_<arch>; `fixed` gives the types of arguments that are not pointers to its
    dtype."""
    names = kernel.function.arg_names[: -len(kernel.numbers + kernel.constants)]
    types = [(fixed or {}).get(name, type_of(spec.dtype)) for name in names]
    return kernel.binary(spec, types, arch)


def machine_code(binary: Any) -> str:
    """What a multiprocessor runs."""
    return _dump(binary, "-sass")


def resources(binary: Any) -> dict[str, int]:
    """Registers a thread, spilled bytes, shared bytes."""
    numbers = dict(re.findall(r"(REG|STACK|LOCAL):(\d+)", _dump(binary, "-res-usage")))
    return {
        "registers": int(numbers["REG"]),
        "stack": int(numbers["STACK"]),
        "local": int(numbers["LOCAL"]),
        "shared": binary.metadata.shared,
    }


def _dump(binary: Any, option: str) -> str:
    tool = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(binary.asm["cubin"])
        file.flush()
        said = subprocess.run([tool, option, file.name], capture_output=True, text=True, check=True)
    return said.stdout + said.stderr
