"""Compiling Rung's kernels for an architecture without having it."""

from __future__ import annotations

import inspect
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from rung.glu.kernels.launch import Kernel, Map, Spec

TYPES = {torch.bfloat16: "bf16", torch.float16: "fp16", torch.float32: "fp32"}


def compile_for(kernel: Kernel, spec: Spec, arch: int, fixed: dict[str, str] | None = None) -> Any:
    """The binary of `spec` for sm_<arch>; `fixed` gives the types of arguments that are not pointers to its
    dtype."""
    function = kernel.aligned if spec.aligned else kernel.any
    signature: dict[str, str] = {}
    attributes = {}
    for at, (name, parameter) in enumerate(inspect.signature(function.fn).parameters.items()):
        annotation = str(parameter.annotation)
        if "constexpr" in annotation:
            signature[name] = "constexpr"
        elif "int" in annotation:
            signature[name] = annotation.replace("tl.int", "i")
        else:
            signature[name] = (fixed or {}).get(name, f"*{TYPES[spec.dtype]}")
            if spec.aligned and signature[name].startswith("*"):
                attributes[(at,)] = [["tt.divisibility", 16]]
    constants = dict(zip(kernel.constants, spec.constants, strict=True))
    source = _source_of(function)(function, signature, constants, attributes)
    options = {"num_warps": spec.warps, "num_stages": spec.stages}
    options |= {"maxnreg": spec.registers} if spec.registers else {}
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options)


def _source_of(function: Any) -> Any:
    if not function.is_gluon():
        return ASTSource
    from triton.experimental.gluon._runtime import GluonASTSource

    return GluonASTSource


def described(seen: Map) -> str:
    """The type of a descriptor in Gluon."""
    box = ", ".join(map(str, seen.box))
    return f"tensordesc<{TYPES[seen.dtype]}[{box}],{seen.layout!r}>"


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
