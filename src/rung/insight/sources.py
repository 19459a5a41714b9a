"""Who wrote what a kernel reads.

A recording holds no addresses: a tensor is known by its number of elements and its dtype. The latest one of
its kind that nobody has read yet is what a kernel reads; where there is none it reads an older one again, or
a weight. Of the backward pass more is known: a node reads one gradient, and what its op of the forward pass
read or left.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rung.insight.autograd import Node
from rung.insight.tensors import Tensor

Key = tuple[int, str]

How = Literal["first", "again", "gradient", "kept"]
"""A tensor is read for the first time, or again: for all that shapes tell, as the gradient that the
reader's node was given, or as what autograd kept for that node."""

Source = tuple[int, How]
"""The row that wrote a tensor, and how it is read."""


@dataclass(frozen=True, slots=True)
class Passed:
    """A tensor that one row writes and a later row reads."""

    tensor: Tensor
    writer: int
    reader: int
    how: How = "first"

    @property
    def again(self) -> bool:
        """Whether another row had read it before."""
        return self.how != "first"


def key_of(tensor: Tensor) -> Key:
    """What a tensor is known by."""
    return tensor.numel, tensor.dtype


@dataclass(slots=True)
class Run:
    """A run of a node. `known`: its op of the forward pass is at hand, and `saved` what that left for it, by
    the rows that wrote it.

    `kind` is that of the gradient it is given, as large as the result of an op that is one kernel; `gradient`
    the row that wrote it, once it is found; `used` those of which it has read what was saved.
    """

    node: Node
    known: bool
    saved: Mapping[Key, Sequence[int]]
    kind: Key | None
    gradient: int | None = None
    used: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Sources:
    """What was written so far. `unread` and `before` hold rows in the order in which they wrote, and in which
    they were read; `rows` the op and the run of a node (None in the forward pass) of each row.

    Rows from `side_by_side` on are the matrix products, or the copies, just before with nothing between them:
    they read other tensors than one another's results, since two linears in a row would be one, and a copy of
    a copy none.
    """

    unread: defaultdict[Key, list[int]] = field(default_factory=lambda: defaultdict(list))
    before: defaultdict[Key, list[int]] = field(default_factory=lambda: defaultdict(list))
    dtypes: defaultdict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    rows: list[tuple[str, Run | None]] = field(default_factory=list)
    side_by_side: int = 0
    role: str = ""

    def read(self, tensors: Iterable[Tensor], op: str, role: str, run: Run | None) -> tuple[Passed, ...]:
        """What the next row reads: no two of its inputs are one tensor, as long as there are others."""
        row = len(self.rows)
        self.rows.append((op, run))
        if role != "memset":
            self.side_by_side = self.side_by_side if role and role == self.role else row
            self.role = role
        found: list[Passed] = []
        for tensor in tensors:
            key = key_of(tensor)
            source = self._in_forward(key) if run is None else self._in_backward(key, op, run, found)
            if source is not None:
                found.append(Passed(tensor, source[0], row, source[1]))
                if not found[-1].again:
                    self.unread[key].remove(found[-1].writer)
        for one in found:
            if not one.again:
                self.before[key_of(one.tensor)].append(one.writer)
        return tuple(found)

    def write(self, tensor: Tensor) -> None:
        """What the row that read last leaves."""
        self.unread[key_of(tensor)].append(len(self.rows) - 1)
        self.dtypes[tensor.numel].add(tensor.dtype)

    def dtype_of(self, numel: int) -> str | None:
        """The dtype of a tensor that is known by its size alone, if just one such was written."""
        found = self.dtypes.get(numel, ())
        return next(iter(found)) if len(found) == 1 else None

    def _in_forward(self, key: Key) -> Source | None:
        unread, before = self.unread[key], self.before[key]
        apart = bisect_left(unread, self.side_by_side)
        if self.role == "copy" and apart:
            return unread[apart - 1], "first"
        if unread and not (before and apart < len(unread)):
            return unread[-1], "first"
        return (before[-1], "again") if before else None

    def _in_backward(self, key: Key, op: str, run: Run, found: Sequence[Passed]) -> Source | None:
        """What the node made itself, its gradient, or what was saved for it. Where nobody knows what was
        saved it may be anything that was read before."""
        own = self._own(key, op, run.node)
        if own is not None:
            return own, "first"
        taken = {one.writer for one in found}
        gradient = self._gradient(key, run)
        if gradient is not None and gradient[0] not in taken:
            return gradient
        saved = [row for row in run.saved.get(key, ()) if row not in taken]
        if saved:
            kept = next((row for row in saved if row not in run.used), saved[0])
            run.used.add(kept)
            return kept, "kept"
        return (self.before[key][-1], "again") if not run.known and self.before[key] else None

    def _own(self, key: Key, op: str, node: Node) -> int | None:
        """What a node made on the way and has not read yet; a gradient that it computes is for others."""
        for row in reversed(self.unread[key]):
            by, run = self.rows[row]
            if run is None or run.node != node:
                return None
            if not (node.differentiates(by) and (by == op or node.passes_on)):
                return row
        return None

    def _gradient(self, key: Key, run: Run) -> Source | None:
        """The gradient of what the forward op left: the latest from another node, or one that several
        share."""
        if run.kind not in (None, key):
            return None
        if run.gradient is not None:
            return run.gradient, "again" if run.node.passes_on else "gradient"
        found = self._from_others(key, run)
        if found is not None and run.kind is not None:
            run.gradient = found[0]
        return found

    def _from_others(self, key: Key, run: Run) -> Source | None:
        for row in reversed(self.unread[key]):
            other = self.rows[row][1]
            if other is None:
                break
            if other.node != run.node and not other.node.ends:
                return row, "first"
        shared = self.before[key][-1:]
        if not shared or self.rows[shared[0]][1] is None:
            return None
        return shared[0], "gradient" if run.kind is not None else "again"
