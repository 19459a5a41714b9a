"""Triton's compiler, asked directly.

A signature is written down from a spec, not read off example arguments: that takes the import of Gluon (0.12
s) and a second kernel object for pointers that are not aligned.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime import cache as kept
from triton.runtime import driver

from rung.glu.kernels.entry import Map, Operand

if TYPE_CHECKING:
    from rung.glu.kernels.launch import Spec

_ONE_AT_A_TIME = Lock()
_TYPES = {torch.bfloat16: "bf16", torch.float16: "fp16", torch.float32: "fp32", torch.int32: "i32"}


def type_of(operand: Operand) -> str:
    """What Triton calls the type of a pointer or a tensor descriptor."""
    if not isinstance(operand, Map):
        return f"*{_TYPES[operand]}"
    box = ", ".join(map(str, operand.box))
    layout = "" if operand.layout is None else f",{operand.layout!r}"
    return f"tensordesc<{_TYPES[operand.dtype]}[{box}]{layout}>"


def compile_for(
    function: Any,
    spec: Spec,
    types: Sequence[str],
    numbers: Sequence[str],
    constants: dict[str, Any],
    arch: int,
) -> Any:
    """The binary of a jitted function for sm_<arch>.

    `types` are those of its pointers and maps, in order, then come `numbers` ("i32", "i64"), then its
    constants by name.
    """
    names = function.arg_names
    signature = dict(zip(names, (*types, *numbers, *("constexpr",) * len(constants)), strict=True))
    aligned = [at for at, kind in enumerate(types) if spec.aligned and kind.startswith("*")]
    attributes = {(at,): [["tt.divisibility", 16]] for at in aligned}
    options: dict[str, Any] = {"num_warps": spec.warps, "num_stages": spec.stages}
    options |= {"maxnreg": spec.registers} if spec.registers else {}
    options |= {"launch_pdl": True} if spec.pdl else {}
    with _keyed_by_dates():
        source = _source_of(function)(function, signature, constants, attributes)
        return triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options)


@cache
def loading() -> Future[Any]:
    """Triton's driver, whose own C code is compiled when it is first used on a machine (0.3 s): meanwhile the
    kernel is."""
    return ThreadPoolExecutor(1).submit(lambda: driver.active.utils)


def _source_of(function: Any) -> Any:
    if not function.is_gluon():
        return ASTSource
    from triton.experimental.gluon._runtime import GluonASTSource

    return GluonASTSource


@contextmanager
def _keyed_by_dates() -> Iterator[None]:
    """Names binaries on disk by the sizes and dates of Triton's own files, as Python names its byte code.

    Triton hashes what is in them: 416 MB, 0.37 s in each process.
    """
    with _ONE_AT_A_TIME:
        before = getattr(kept, "triton_key", None)
        if before is not None:
            kept.triton_key = _key
        try:
            yield
        finally:
            if before is not None:
                kept.triton_key = before


@cache
def _key() -> str:
    root = Path(triton.__file__).parent
    seen = hashlib.sha256()
    for folder in ("_C", "backends", "compiler", "experimental", "language", "runtime"):
        for path, _, files in sorted(os.walk(root / folder)):
            for name in sorted(files):
                if name.endswith((".py", ".so")):
                    about = os.stat(os.path.join(path, name))
                    seen.update(f"{path}/{name} {about.st_size} {about.st_mtime_ns}\n".encode())
    return f"{triton.__version__}-{seen.hexdigest()}"
