"""One compiled binary a spec, launched the short way.

`kernel[grid](...)` looks at every argument at every launch (15 to 23 µs); Rung's kernels specialise on
nothing but a spec, so all that a launch needs is prepared once for a geometry, and a launch takes addresses
alone (5 µs). Sizes and strides are never specialised on, so a new shape compiles nothing.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import torch
import triton
from triton import knobs

from rung.glu.devices import current_device, stream_of
from rung.glu.kernels.compiling import begin, begun, compile_for, loading, source_for, type_of
from rung.glu.kernels.entry import Enter, Map, Operand, descriptor, enter

__all__ = [
    "INTERPRETED",
    "Kernel",
    "Launch",
    "Map",
    "Operand",
    "Prepared",
    "Request",
    "Spec",
    "address",
    "beyond",
]

INTERPRETED: bool = knobs.runtime.interpret

Launch = Callable[..., None]
"""Runs a prepared kernel on the current stream; takes the `address` of each operand, in order."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A `Launch`. `on` takes the stream before the addresses, and expects `device` to be current."""

    device: int
    on: Enter

    def __call__(self, *addresses: Any) -> None:
        device = self.device
        if current_device() == device:
            self.on(stream_of(device), *addresses)
        else:
            with torch.cuda.device(device):
                self.on(stream_of(device), *addresses)


class Spec(NamedTuple):
    """What a binary is compiled for. `constants` are the kernel's constexpr parameters, in order.

    With `aligned` every pointer is a multiple of 16 bytes; with `pdl` the kernel may start while the one
    before it ends (programmatic dependent launch); `registers` is the most a thread may have at entry.
    """

    dtype: torch.dtype
    aligned: bool
    constants: tuple[Any, ...]
    warps: int
    stages: int
    pdl: bool = False
    registers: int | None = None


def _itself(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


def _from_byte(tensor: torch.Tensor, byte: int) -> torch.Tensor:
    return tensor[byte:]


address: Callable[[torch.Tensor], Any] = _itself if INTERPRETED else torch.Tensor.data_ptr
"""What a launch takes for a tensor: where it lies; under Triton's interpreter the tensor itself."""
beyond: Callable[[Any, int], Any] = _from_byte if INTERPRETED else operator.add
"""The address so many bytes after another; the memory there may be of any dtype, its tensor is of bytes."""


class Kernel:
    """A kernel's source and its binaries. Parameters come in order: pointers and maps, numbers, constants."""

    def __init__(
        self,
        source: Callable[..., None],
        name: Callable[[dict[str, Any]], str] | None = None,
        jit: Callable[..., Any] = triton.jit,
    ) -> None:
        parameters = inspect.signature(source).parameters.values()
        self.numbers = ["i" + str(p.annotation)[-2:] for p in parameters if "int" in str(p.annotation)]
        self.constants = [p.name for p in parameters if "constexpr" in str(p.annotation)]
        self._source, self._name, self._jit = source, name, jit
        self._binaries: dict[tuple[int, Spec], Any] = {}

    @cached_property
    def function(self) -> Any:
        """The source as Triton takes it: read and parsed when it is first asked for (3 ms)."""
        label, name = "rung" + self._source.__name__, self._name
        return self._jit(
            self._source, repr=lambda proxy: f"{label}_{name(proxy.constants)}" if name else label
        )

    def prepare(
        self, spec: Spec, device: int, blocks: int, operands: Sequence[Operand], numbers: Sequence[int]
    ) -> Prepared:
        """How to run `blocks` programs on CUDA device `device`, compiled now if this spec is new.

        `operands` says what each pointer parameter is (a dtype, or a `Map`: its box follows from the spec),
        `numbers` are the sizes and strides. Keep what this returns as long as the geometry stays the same.
        """
        tail = (*numbers, *spec.constants)
        if INTERPRETED:
            return Prepared(0, _interpreted(self.function[(blocks,)], operands, tail))
        with torch.cuda.device(device):
            return Prepared(device, enter(self._binary(spec, device, operands), blocks, operands, tail))

    def begin(self, spec: Spec, device: int, blocks: int, operands: Sequence[Operand], *_: object) -> None:
        """Compiles in another thread, while this one compiles something else, what `prepare` will be asked
        for, or may be."""
        if not INTERPRETED and (device, spec) not in self._binaries:
            types, arch = [type_of(o) for o in operands], _arch(device)
            begin((self, spec, arch), partial(self.binary, spec, types, arch))

    def source(self, spec: Spec, types: Sequence[str]) -> Any:
        """As Triton's compiler takes it; `types` are those of the pointers and maps, in order."""
        constants = dict(zip(self.constants, spec.constants, strict=True))
        return source_for(self.function, spec, types, self.numbers, constants)

    def binary(self, spec: Spec, types: Sequence[str], arch: int) -> Any:
        """Compiled for sm_<arch>."""
        return compile_for(self.source(spec, types), spec, arch)

    def _binary(self, spec: Spec, device: int, operands: Sequence[Operand]) -> Any:
        found = self._binaries.get((device, spec))
        if found is None:
            types, arch = [type_of(o) for o in operands], _arch(device)
            loaded = loading(self.source(spec, types))
            found = begun((self, spec, arch)) or self.binary(spec, types, arch)
            loaded.result()
            self._binaries[device, spec] = found
        return found


class Request(NamedTuple):
    """What a kernel is asked for, at once or ahead; see `Kernel.prepare`."""

    kernel: Kernel
    spec: Spec
    device: int
    blocks: int
    operands: Sequence[Operand]
    numbers: Sequence[int]

    def prepare(self) -> Prepared:
        """How to run it, compiled now unless that was begun."""
        return self.kernel.prepare(*self[1:])

    def begin(self) -> None:
        """Begins to compile it in another thread."""
        self.kernel.begin(*self[1:])


def _arch(device: int) -> int:
    capability: tuple[int, int] = torch.cuda.get_device_capability(device)
    return 10 * capability[0] + capability[1]


def _interpreted(run: Callable[..., Any], operands: Sequence[Operand], tail: tuple[Any, ...]) -> Enter:
    return lambda _, *tensors: run(*map(_seen, operands, tensors), *tail)


def _seen(operand: Operand, tensor: torch.Tensor) -> Any:
    if isinstance(operand, Map):
        return descriptor(operand, tensor)
    return tensor.view(operand) if tensor.dtype == torch.uint8 else tensor
