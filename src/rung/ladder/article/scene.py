"""A drawing before it has times: what calls what, and what that puts on the GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

BFLOAT16_BYTES = 2

ENTER_NS, LEAVE_NS = 3_000, 1_000
"""Rule for the width of CPU ops: so long before the first thing inside, and so long after the last."""

LAUNCH_NS, QUERY_NS = 6_000, 1_000
"""Rule for runtime and driver calls."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """Dims and strides of a bf16 tensor, in elements."""

    dims: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def mT(self) -> Tensor:  # noqa: N802  torch's own name for it
        """A matrix read the other way round: the same memory."""
        return Tensor(self.dims[::-1], self.strides[::-1])

    @property
    def nbytes(self) -> int:
        return prod(self.dims) * BFLOAT16_BYTES


def tensor(*dims: int) -> Tensor:
    """A contiguous tensor."""
    return Tensor(dims, tuple(prod(dims[i + 1 :]) for i in range(len(dims))))


Input = Tensor | str | None
"""What an op was given: a tensor, the text of a scalar or of a "[list]" of them, or nothing."""


@dataclass(frozen=True, slots=True)
class Work:
    """A kernel or copy, and its time in each of the three steps."""

    name: str
    ns: tuple[int, int, int]
    published: bool = True
    category: str = "kernel"
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Span:
    """Something on the CPU's lane, the spans inside it, and the work it puts on the device."""

    name: str
    category: str = "cpu_op"
    args: Mapping[str, Any] = field(default_factory=dict)
    inside: tuple[Span, ...] = ()
    work: Work | None = None
    enter_ns: int = ENTER_NS
    leave_ns: int = LEAVE_NS


@dataclass(frozen=True, slots=True)
class Step:
    """One profiler step. The region's first op comes `gap_ns` after the region."""

    start_ns: int
    width_ns: int
    gap_ns: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """One variant of one rung.

    `spans` are the region's, the same in each of three `steps`. `published` names the CPU spans whose width
    is the article's, `printed` are what it says of them, for views to repeat. The GPU runs nothing before
    `gpu_ready_ns`. The last call takes `sync_ns`, or, without one, waits for the GPU.
    """

    rung: str
    variant: str
    region: str
    source: str
    parameters: Mapping[str, Any]
    spans: tuple[Span, ...]
    steps: tuple[Step, Step, Step]
    published: frozenset[str] = frozenset()
    gpu_ready_ns: int = 0
    sync_ns: int | None = None
    printed: tuple[str, ...] = ()


def kernel(name: str, ns: int | tuple[int, int, int], *, published: bool = True, **args: Any) -> Work:
    times = (ns, ns, ns) if isinstance(ns, int) else ns
    return Work(name, times, published, args=args)


def op(name: str, *inputs: Input, inside: tuple[Span, ...] = ()) -> Span:
    """An ATen op, or one that records its inputs like one."""
    return Span(name, args=_input_args(inputs), inside=inside)


def gemm(work: Work) -> tuple[Span, Span]:
    """What cuBLAS does on the CPU: it asks how many blocks fit on an SM, then launches."""
    query = Span(
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor", "cuda_runtime", enter_ns=QUERY_NS, leave_ns=0
    )
    return query, launch(work)


def launch(work: Work, name: str = "cudaLaunchKernel") -> Span:
    """The call that puts `work` on the device."""
    category = "cuda_driver" if name.startswith("cuL") else "cuda_runtime"
    return Span(name, category, work=work, enter_ns=LAUNCH_NS, leave_ns=0)


def _input_args(inputs: tuple[Input, ...]) -> dict[str, Any]:
    return {
        "Concrete Inputs": [given if isinstance(given, str) else "" for given in inputs],
        "Input type": [_type(given) for given in inputs],
        "Input Strides": [list(given.strides) if isinstance(given, Tensor) else [] for given in inputs],
        "Input Dims": [list(given.dims) if isinstance(given, Tensor) else [] for given in inputs],
    }


def _type(given: Input) -> str:
    if isinstance(given, Tensor):
        return "c10::BFloat16"
    if given is None:
        return ""
    return "ScalarList" if given.startswith("[") else "Scalar"
