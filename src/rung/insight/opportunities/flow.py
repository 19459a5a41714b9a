"""Which tensors pass from kernel to kernel through memory, as far as shapes tell.

A recording holds no addresses: a tensor is known by its number of elements and its dtype. The latest one of its
kind that nobody has read yet is what a kernel reads; where there is none it reads an older one again, or a weight.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from rung.insight.forward import Forward
from rung.insight.tensors import Tensor
from rung.insight.traffic import reads_of, writes_of
from rung.trace import Kernel

Key = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Passed:
    """A tensor that one row writes and a later row reads; `again` if another row had read it before."""

    tensor: Tensor
    writer: int
    reader: int
    again: bool = False


@dataclass(frozen=True, slots=True)
class Flow:
    """A forward's tensors, row by row. `writes` is None where the recording does not tell.

    `kept` are writers whose tensor is, or may be, read once more after its first reader.
    """

    reads: tuple[tuple[Tensor, ...], ...]
    writes: tuple[Tensor | None, ...]
    passed: tuple[Passed, ...]
    kept: frozenset[int]


def flow(forward: Forward) -> Flow:
    """How tensors pass through one forward."""
    work = list(forward.example.work)
    reads = tuple(_reads(kernel) for kernel in work)
    writes = tuple(_writes(kernel) for kernel in work)
    unread: dict[Key, list[int]] = defaultdict(list)
    before: dict[Key, list[int]] = defaultdict(list)
    passed: list[Passed] = []
    kept: set[int] = set()
    for row, tensors in enumerate(reads):
        for tensor in tensors:
            key = (tensor.numel, tensor.dtype)
            if unread[key]:
                writer = unread[key].pop()
                before[key].append(writer)
                passed.append(Passed(tensor, writer, row))
            elif before[key]:
                kept.update(before[key])
                passed.append(Passed(tensor, before[key][-1], row, again=True))
        written = writes[row]
        if written is not None:
            unread[(written.numel, written.dtype)].append(row)
    return Flow(reads, writes, tuple(passed), frozenset(kept))


def _reads(kernel: Kernel) -> tuple[Tensor, ...]:
    return tuple(reads_of(kernel.op)) if _computes(kernel) and kernel.op else ()


def _writes(kernel: Kernel) -> Tensor | None:
    return writes_of(kernel.op) if _computes(kernel) and kernel.op else None


def _computes(kernel: Kernel) -> bool:
    """A memset inside an op touches none of the op's tensors."""
    return kernel.category in ("kernel", "op") and not (kernel.launch is not None and kernel.launch.is_graph)
