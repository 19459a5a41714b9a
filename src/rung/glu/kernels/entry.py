"""The way into a compiled kernel: Triton's C launcher, or its Python route where that is not as expected.

Two launches of a small MLP cost 8 to 10 µs through the C launcher, 23 through `compiled[grid]`, 40 through
`kernel[grid]`. The C launcher is no public interface: all that Rung knows of it is in this file, for Triton
3.6 (a module compiled for each signature), 3.7 to 3.9 (one function for all). Anything else, scratch memory
and instrumentation too, goes by `compiled[grid]`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeAlias

import torch
from triton.runtime.jit import MockTensor


class Map(NamedTuple):
    """A tensor as TMA sees it, all but its address: sizes and strides in elements (the last stride is 1), the
    box that one copy moves, and for Gluon its layout in shared memory."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    layout: Any = None


Operand: TypeAlias = "torch.dtype | Map"
"""What a kernel's pointer parameter is: a pointer to a dtype, or a `Map`."""
Enter = Callable[..., object]
"""Launches: takes a stream of the binary's device, which is current, then the address of each operand."""

KEPT = 64
"""Encoded maps kept for an operand; a model's activations come back to the same addresses."""


class _At(MockTensor):  # type: ignore[misc]
    """What stands for a tensor of which only dtype and address matter."""

    def __init__(self, dtype: torch.dtype, address: int) -> None:
        super().__init__(dtype)
        self.data_ptr = lambda: address


def descriptor(seen: Map, tensor: Any) -> Any:
    """Triton's tensor descriptor of `tensor`, seen as `seen` says."""
    shape, strides, box = (list(numbers) for numbers in seen[1:4])
    if seen.layout is None:
        from triton.tools.tensor_descriptor import TensorDescriptor

        return TensorDescriptor(tensor, shape, strides, box)
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor as GluonDescriptor

    return GluonDescriptor(tensor, shape, strides, box, seen.layout)


def enter(compiled: Any, blocks: int, operands: Sequence[Operand], tail: tuple[Any, ...]) -> Enter:
    """How to launch `blocks` programs of `compiled`; after the operands come the numbers and constants of
    `tail`. The current device is the binary's."""
    inner = _inner(compiled, blocks, tail)
    if inner is not None:
        about = iter(compiled.metadata.tensordesc_meta or ())
        return _mapped(
            inner, [_encoded(o, next(about, None)) if isinstance(o, Map) else None for o in operands]
        )
    grid = compiled[(blocks, 1, 1)]
    return _mapped(
        lambda stream, *arguments: grid(*arguments, *tail, stream=stream),
        [_described(o) if isinstance(o, Map) else None for o in operands],
    )


def _inner(compiled: Any, blocks: int, tail: tuple[Any, ...]) -> Enter | None:
    """The C launcher, taking encoded maps; None where this Triton's is not as expected."""
    run, function, about = compiled.run, compiled.function, compiled.packed_metadata
    scratch = [getattr(run, f"{kind}_scratch_size", 1) for kind in ("global", "profile")]
    if any(scratch) or getattr(run, "launch_cooperative_grid", True) or getattr(run, "gsan_enabled", False):
        return None
    launch, pdl = _unwrapped(run.launch), run.launch_pdl
    if hasattr(run, "kernel_signature") and hasattr(run, "arg_annotations"):
        annotations, signature = run.arg_annotations, run.kernel_signature
        return lambda stream, *arguments: launch(
            blocks, 1, 1, stream, function, False, pdl, about,
            None, None, None, None, None, annotations, signature, arguments + tail,
        )  # fmt: skip
    if _compiles_launchers():
        return lambda stream, *arguments: launch(
            blocks, 1, 1, stream, function, False, pdl, None, None, about, None, None, None, *arguments, *tail
        )
    return None


def build_launcher(source: Any) -> None:
    """Has Triton 3.6 compile its launcher for a kernel's signature, which it keeps on disk and would else
    begin (0.3 s of gcc) when the kernel is done."""
    if not _compiles_launchers():
        return
    from triton.backends.nvidia.driver import CudaLauncher

    maps = sum(kind.startswith("tensordesc") for kind in source.signature.values())
    about: dict[str, Any] = dict.fromkeys(("launch_cooperative_grid", "launch_pdl"), False)
    about |= {f"{kind}_scratch_{what}": 0 for kind in ("global", "profile") for what in ("size", "align")}
    with suppress(Exception):  # whatever is wrong, Triton will say
        CudaLauncher(source, SimpleNamespace(tensordesc_meta=[{}] * maps, **about))


def _compiles_launchers() -> bool:
    import triton.backends.nvidia.driver as backend

    return getattr(backend, "_BASE_ARGS_FORMAT", None) == "iiiKKppOOOOOO"


def _unwrapped(launch: Any) -> Any:
    """The C function; with descriptors among the arguments Triton wraps it in one that encodes them anew."""
    if not hasattr(launch, "__code__"):
        return launch
    return dict(zip(launch.__code__.co_freevars, launch.__closure__, strict=True))["launcher"].cell_contents


def _mapped(inner: Enter, maps: Sequence[Callable[[int], Sequence[Any]] | None]) -> Enter:
    """`inner`, each operand that has a map expanded from its address first."""
    if not any(maps):
        return inner

    def expanded(stream: int, *addresses: int) -> object:
        flat: list[Any] = []
        for address, expand in zip(addresses, maps, strict=True):
            if expand is None:
                flat.append(address)
            else:
                flat += expand(address)
        return inner(stream, *flat)

    return expanded


def _described(seen: Map) -> Callable[[int], Sequence[Any]]:
    return lambda address: [descriptor(seen, _At(seen.dtype, address))]


def _encoded(seen: Map, about: Any) -> Callable[[int], Sequence[Any]]:
    """Encodes an address, or finds it encoded: a map says where memory lies, not what is in it, so it never
    goes out of date. Of Triton's descriptor, checked once, only the address changes."""
    from triton.backends.nvidia.driver import make_tensordesc_arg

    more = (None,) * (make_tensordesc_arg.__code__.co_argcount - 2)
    checked = descriptor(seen, _At(seen.dtype, 0))
    kept: dict[int, Sequence[Any]] = {}

    def encode(address: int) -> Sequence[Any]:
        found = kept.get(address)
        if found is None:
            if len(kept) >= KEPT:
                kept.clear()
            there = copy.copy(checked)
            there.base = _At(seen.dtype, address)
            found = kept[address] = make_tensordesc_arg(there, about, *more)
        return found

    return encode
