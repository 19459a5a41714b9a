"""Which pieces of a region's work were recorded alike: a model asks for the same kernels layer by layer."""

from __future__ import annotations

import re
from collections.abc import Hashable

from rung.insight.tensors import recorded
from rung.trace import Region, Trace
from rung.trace.repair import UNDECODABLE


def first_alike(region: Region) -> tuple[int, ...]:
    """For each piece of work in a region the place of the first that is recorded alike: its name and bytes,
    its launch, the ops around it with what they were called with, and what else its op launched.

    What is told of one is true of all of them, but for times and ids.
    """
    marks, first = _Marks(region.trace), dict[Hashable, int]()
    return tuple(first.setdefault(marks.of_work(row), at) for at, row in enumerate(region.work.rows.tolist()))


_MATRIX = re.compile(rb"\[\d+,\s*\d")
"""In an op's `Input Dims`. Where it has none, the dtype of a product is that of an op around it."""


class _Marks:
    """What tells rows of a trace's tables from one another; alike ops have one number."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.work, self.ops, self.args = (
            trace,
            trace.tables.kernels,
            trace.tables.ops,
            trace.span_args(),
        )
        self.launch_of, self.op_of = self.work.launch.tolist(), self.work.op.tolist()
        self.parent, self.span = self.ops.parent.tolist(), self.ops.span.tolist()
        self.beside, self.begin = trace.op_work.items.tolist(), trace.op_work.offsets.tolist()
        self.numbers: dict[Hashable, int] = {}
        self.calls: dict[int, Hashable] = {-1: -1}
        self.paths = {-1: -1}

    def of_work(self, row: int) -> Hashable:
        """Of a row of `tables.kernels`."""
        name, category, op = self.work.name[row], self.work.category[row], self.op_of[row]
        if "multi_tensor" in name:
            return row  # what it does depends on its grid, and on those of its neighbours
        nbytes = self.trace.kernels[row].args.get("bytes") if category in ("copy", "memset") else None
        return (
            name,
            category,
            self._of_launch(self.launch_of[row]),
            self._of_call(op),
            self._among(row, op),
            nbytes,
        )

    def _of_launch(self, row: int) -> Hashable:
        table = self.trace.tables.launches
        return (
            (table.name[row], bool(table.graph[row]), bool(table.occupancy_query[row])) if row >= 0 else None
        )

    def _of_call(self, row: int) -> Hashable:
        """The number of an op, which stands for its name, its arguments and the ops around it, with their
        arguments as far as they count."""
        inner: list[tuple[int, Hashable]] = []  # no recursion: a stack may be deeper than Python's own
        while (around := self.calls.get(row)) is None:
            told = self._arguments(row)
            inner.append((row, told))
            row = self.parent[row]
            if isinstance(told, tuple) and any(map(_MATRIX.search, told[:2])):
                around = ("path", self._of_path(row))
                break
        for one, told in reversed(inner):
            around = self.calls[one] = self._number((around, self.ops.name[one], told))
        return around

    def _of_path(self, row: int) -> int:
        """The number of an op by its name and those around it."""
        inner = []
        while (around := self.paths.get(row)) is None:
            inner.append(row)
            row = self.parent[row]
        for one in reversed(inner):
            around = self.paths[one] = self._number((around, self.ops.name[one]))
        return around

    def _number(self, mark: Hashable) -> int:
        return self.numbers.setdefault(mark, len(self.numbers))

    def _arguments(self, row: int) -> Hashable:
        try:
            return recorded(self.args[self.span[row]])
        except UNDECODABLE:
            return row

    def _among(self, row: int, op: int) -> Hashable:
        """Which of the pieces of work that its op launched it is, and what the others are."""
        if op < 0 or self.begin[op + 1] - self.begin[op] == 1:
            return None
        beside = self.beside[self.begin[op] : self.begin[op + 1]]
        return beside.index(row), tuple([(self.work.name[one], self.work.category[one]) for one in beside])
