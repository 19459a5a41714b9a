"""One compiled binary a spec, launched the short way.

`kernel[grid](...)` looks at every argument at every launch (23 µs); Rung's kernels specialise on nothing
but a spec, so a compiled one is found by it and run directly (5 to 7 µs). Sizes and strides are never
specialised on, so a new shape compiles nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import torch
import triton
from triton import knobs

INTERPRETED: bool = knobs.runtime.interpret


class Spec(NamedTuple):
    """What a binary is compiled for. `constants` are the kernel's constexpr parameters, in order."""

    dtype: torch.dtype
    aligned: bool
    constants: tuple[Any, ...]
    warps: int
    stages: int


class Kernel:
    """A kernel's source and its binaries. With `aligned`, every pointer is a multiple of 16 bytes."""

    def __init__(
        self, source: Callable[..., None], name: Callable[[dict[str, Any]], str] | None = None
    ) -> None:
        parameters = inspect.signature(source).parameters.values()
        runtime = [p for p in parameters if "constexpr" not in str(p.annotation)]
        numbers = [p.name for p in runtime if p.annotation is not inspect.Parameter.empty]
        pointers = [p.name for p in runtime if p.annotation is inspect.Parameter.empty]
        label = "rung" + source.__name__
        described = (lambda proxy: f"{label}_{name(proxy.constants)}") if name else (lambda _: label)
        self.constants = [p.name for p in parameters if "constexpr" in str(p.annotation)]
        self.aligned = triton.jit(source, do_not_specialize=numbers, repr=described)
        self.any = triton.jit(
            source,
            do_not_specialize=[*pointers, *numbers],
            do_not_specialize_on_alignment=pointers,
            repr=described,
        )
        self._binaries: dict[tuple[int, Spec], tuple[Any, Any, Any]] = {}

    def launch(self, spec: Spec, blocks: int, arguments: tuple[Any, ...], device: int) -> None:
        """Runs `blocks` programs on the current stream of CUDA device `device`."""
        if INTERPRETED:
            function = self.aligned if spec.aligned else self.any
            function[(blocks,)](*arguments, *spec.constants)
            return
        with nullcontext() if device == torch.cuda.current_device() else torch.cuda.device(device):
            binary = self._binaries.get((device, spec))
            if binary is None:
                binary = self._binaries[(device, spec)] = self._compile(spec, arguments)
            run, function, metadata = binary
            stream = torch._C._cuda_getCurrentRawStream(device)
            run(blocks, 1, 1, stream, function, metadata, None, None, None, *arguments, *spec.constants)

    def _compile(self, spec: Spec, arguments: tuple[Any, ...]) -> tuple[Any, Any, Any]:
        function = self.aligned if spec.aligned else self.any
        compiled = function.warmup(
            *arguments, *spec.constants, grid=(1,), num_warps=spec.warps, num_stages=spec.stages
        )
        return compiled.run, compiled.function, compiled.packed_metadata
