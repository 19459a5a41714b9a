"""Triton's compiler, asked directly.

A signature is written down from a spec, not read off example arguments: that takes the import of Gluon (0.12
s) and a second kernel object for pointers that are not aligned.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime import driver

from rung.glu.kernels.entry import Map, Operand, build_launcher
from rung.glu.kernels.keys import by_dates, settle

if TYPE_CHECKING:
    from rung.glu.kernels.launch import Spec

MOST_BEGUN = 2
"""Jobs of `begin` at once: so few that a process can wait for them at its exit."""

_LOADER, _COMPILER = ThreadPoolExecutor(1, "rung-loader"), ThreadPoolExecutor(1, "rung-compiler")
_BEGUN: dict[Hashable, Future[Any]] = {}
_BEGINNING = Lock()
_TYPES = {torch.bfloat16: "bf16", torch.float16: "fp16", torch.float32: "fp32", torch.int32: "i32"}


def type_of(operand: Operand) -> str:
    """What Triton calls the type of a pointer or a tensor descriptor."""
    if not isinstance(operand, Map):
        return f"*{_TYPES[operand]}"
    box = ", ".join(map(str, operand.box))
    layout = "" if operand.layout is None else f",{operand.layout!r}"
    return f"tensordesc<{_TYPES[operand.dtype]}[{box}]{layout}>"


def source_for(
    function: Any, spec: Spec, types: Sequence[str], numbers: Sequence[str], constants: dict[str, Any]
) -> Any:
    """A jitted function and what it is compiled for.

    `types` are those of its pointers and maps, in order, then come `numbers` ("i32", "i64"), then its
    constants by name.
    """
    settle(function)
    names = function.arg_names
    signature = dict(zip(names, (*types, *numbers, *("constexpr",) * len(constants)), strict=True))
    aligned = [at for at, kind in enumerate(types) if spec.aligned and kind.startswith("*")]
    attributes = {(at,): [["tt.divisibility", 16]] for at in aligned}
    return _kind_of_source(function)(function, signature, constants, attributes)


def compile_for(source: Any, spec: Spec, arch: int) -> Any:
    """The binary of a source for sm_<arch>."""
    # Triton 3.10 will not contract a * b + c unless asked to.
    options: dict[str, Any] = {"num_warps": spec.warps, "num_stages": spec.stages, "enable_fp_fusion": True}
    options |= {"maxnreg": spec.registers} if spec.registers else {}
    options |= {"launch_pdl": True} if spec.pdl else {}
    with by_dates():
        return triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options)


def loading(source: Any) -> Future[Any]:
    """Triton's driver, whose own C code is compiled when it is first used on a machine (0.3 s), and so is its
    launcher of each signature: meanwhile the kernel is."""

    def load() -> Any:
        utils = driver.active.utils
        build_launcher(source)
        return utils

    return _LOADER.submit(load)


def begin(name: Hashable, job: Callable[[], Any]) -> None:
    """Does `job` in another thread, for `begun` to find; nothing where many wait already.

    It compiles and touches no device. At exit Python waits for it (2 s at most), for LLVM must not be left
    alone; the next process finds what it made on disk.
    """
    with _BEGINNING:
        if name not in _BEGUN and sum(not future.done() for future in _BEGUN.values()) < MOST_BEGUN:
            with suppress(RuntimeError):  # Python is about to exit
                _BEGUN[name] = _COMPILER.submit(job)


def begun(name: Hashable) -> Any:
    """The result of such a job, waited for if it is being done.

    None if it has not been started, or failed: who asks does it at once, and hears what is wrong.
    """
    with _BEGINNING:
        future = _BEGUN.pop(name, None)
    if future is None or future.cancel() or future.exception() is not None:
        return None
    return future.result()


def _kind_of_source(function: Any) -> Any:
    if not function.is_gluon():
        return ASTSource
    from triton.experimental.gluon._runtime import GluonASTSource

    return GluonASTSource
