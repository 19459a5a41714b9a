"""Which tensors pass from kernel to kernel through memory, as far as shapes tell.

A recording holds no addresses: a tensor is known by its number of elements and its dtype. The latest one of
its kind that nobody has read yet is what a kernel reads; where there is none it reads an older one again, or
a weight.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field

from rung.insight.forward import Forward
from rung.insight.tensors import Tensor, is_shape
from rung.insight.traffic import reads_of, writes_of
from rung.trace import Kernel, Op

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
    """A forward's tensors, row by row: what each reads and writes (None where the recording does not tell),
    what of it came from other rows and went to other rows."""

    reads: tuple[tuple[Tensor, ...], ...]
    writes: tuple[Tensor | None, ...]
    received: tuple[tuple[Passed, ...], ...]
    given: tuple[tuple[Passed, ...], ...]

    def inside(self, rows: Collection[int]) -> list[Passed]:
        """What these rows hand on to one another."""
        among = frozenset(rows)
        return [p for row in rows for p in self.received[row] if p.writer in among]

    def needed_outside(self, rows: Collection[int]) -> set[int]:
        """Those of the rows whose tensor others read as well."""
        among = frozenset(rows)
        return {row for row in rows if any(p.reader not in among for p in self.given[row])}


def flow(forward: Forward) -> Flow:
    """How tensors pass through one forward."""
    seen = _Seen()
    reads, writes = [], []
    for row, kernel in enumerate(forward.example.work):
        read, written = _tensors(kernel, seen)
        written = written or _left_over(read, forward.rows[row].work.nbytes)
        seen.next_to(kernel)
        seen.read(read, row)
        if written is not None:
            seen.unread[_key(written)].append(row)
        seen.siblings.add(row)
        reads.append(read)
        writes.append(written)
    received: list[list[Passed]] = [[] for _ in reads]
    given: list[list[Passed]] = [[] for _ in reads]
    for passed in seen.passed:
        received[passed.reader].append(passed)
        given[passed.writer].append(passed)
    return Flow(tuple(reads), tuple(writes), tuple(map(tuple, received)), tuple(map(tuple, given)))


def _key(tensor: Tensor) -> Key:
    return tensor.numel, tensor.dtype


@dataclass(slots=True)
class _Seen:
    """What was written so far, and by which rows.

    `siblings` are the matrix products, or the copies, just before with nothing between them: they read other
    tensors than one another's results, since two linears in a row would be one, and a copy of a copy none.
    """

    unread: defaultdict[Key, list[int]] = field(default_factory=lambda: defaultdict(list))
    before: defaultdict[Key, list[int]] = field(default_factory=lambda: defaultdict(list))
    passed: list[Passed] = field(default_factory=list)
    siblings: set[int] = field(default_factory=set)
    role: str = ""

    def next_to(self, kernel: Kernel) -> None:
        """Forget the siblings where something else comes between."""
        if kernel.category == "memset":
            return
        role = "product" if kernel.kind == "gemm" else "copy" if kernel.op and _copies(kernel.op) else ""
        if role != self.role or not role:
            self.siblings.clear()
        self.role = role

    def read(self, tensors: tuple[Tensor, ...], row: int) -> None:
        """What one row reads: no two of its inputs are one tensor, as long as there are others."""
        claimed: list[Passed] = []
        for tensor in tensors:
            key = _key(tensor)
            fresh = self._fresh(key)
            if fresh is not None:
                self.unread[key].remove(fresh)
                claimed.append(Passed(tensor, fresh, row))
            elif self.before[key]:
                self.passed.append(Passed(tensor, self.before[key][-1], row, again=True))
        for one in claimed:
            self.before[_key(one.tensor)].append(one.writer)
        self.passed += claimed

    def _fresh(self, key: Key) -> int | None:
        """The latest writer of such a tensor that nobody has read; a sibling only where there is no other."""
        unread = self.unread[key]
        others = [row for row in unread if row not in self.siblings] if self.role == "copy" else []
        if others or not unread:
            return others[-1] if others else None
        return None if self.before[key] and unread[-1] in self.siblings else unread[-1]

    def dtype_of(self, numel: int) -> str | None:
        """The dtype of a tensor that is known by its size alone, if just one such was written."""
        found = {
            key[1] for known in (self.unread, self.before) for key in known if key[0] == numel and known[key]
        }
        return found.pop() if len(found) == 1 else None


def _tensors(kernel: Kernel, seen: _Seen) -> tuple[tuple[Tensor, ...], Tensor | None]:
    """What a kernel reads and writes; a memset inside an op touches none of the op's tensors."""
    op = kernel.op
    if op is None or kernel.category not in ("kernel", "op"):
        return (), None
    if kernel.launch is not None and kernel.launch.is_graph:
        return (), None
    if op.name in ("aten::cat", "aten::stack"):
        return _joined(op, seen)
    reads = reads_of(op)
    known = tuple(tensor for tensor in reads if tensor.dtype)
    return known, writes_of(op) if len(known) == len(reads) else None


def _copies(op: Op) -> bool:
    return op.name in ("aten::copy_", "aten::clone", "aten::contiguous")


def _left_over(read: tuple[Tensor, ...], nbytes: int | None) -> Tensor | None:
    """What a compiler's kernel moves beyond what it reads is what it writes, over an input as large."""
    left = nbytes - sum(t.nbytes for t in read) if nbytes is not None and read else 0
    return next((tensor for tensor in read if tensor.nbytes == left), None)


def _joined(op: Op, seen: _Seen) -> tuple[tuple[Tensor, ...], Tensor | None]:
    """A list of tensors is recorded without a dtype: that of one which a kernel wrote before."""
    first = op.shapes[0] if op.shapes else None
    shapes = [tuple(s) for s in first if is_shape(s) and s] if isinstance(first, list) else []
    dtypes = {seen.dtype_of(math.prod(shape)) for shape in shapes} - {None}
    if len(dtypes) != 1:
        return (), None
    dtype = str(dtypes.pop())
    whole = sum(math.prod(shape) for shape in shapes)
    return tuple(Tensor(shape, dtype) for shape in shapes), Tensor((whole,), dtype)
