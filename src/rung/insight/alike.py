"""Which pieces of a region's work were recorded alike: a model asks for the same kernels layer by layer."""

from __future__ import annotations

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


class _Marks:
    """What tells rows of a trace's tables from one another; alike ops have one number."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.work, self.ops = trace, trace.tables.kernels, trace.tables.ops
        self.launch_of, self.op_of = self.work.launch.tolist(), self.work.op.tolist()
        self.parent, self.span = self.ops.parent.tolist(), self.ops.span.tolist()
        self.offsets = trace.op_work.offsets.tolist()
        self.op_numbers = {-1: -1}
        self.numbers: dict[Hashable, int] = {}

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
            self._of_op(op),
            self._among(row, op),
            nbytes,
        )

    def _of_launch(self, row: int) -> Hashable:
        table = self.trace.tables.launches
        return (
            (table.name[row], bool(table.graph[row]), bool(table.occupancy_query[row])) if row >= 0 else None
        )

    def _of_op(self, row: int) -> int:
        """Its number, which stands for its name, its arguments and the ops around it."""
        path = []  # a stack may be deeper than Python's own
        while (around := self.op_numbers.get(row)) is None:
            path.append(row)
            row = self.parent[row]
        for inner in reversed(path):
            mark = (around, self.ops.name[inner], self._arguments(inner))
            around = self.op_numbers[inner] = self.numbers.setdefault(mark, len(self.numbers))
        return around

    def _arguments(self, row: int) -> Hashable:
        try:
            return recorded(self.trace.span_args()[self.span[row]])
        except UNDECODABLE:
            return row

    def _among(self, row: int, op: int) -> Hashable:
        """Which of the pieces of work that its op launched it is, and what the others are."""
        if op < 0 or self.offsets[op + 1] - self.offsets[op] == 1:
            return None
        beside = self.trace.op_work.of(op).tolist()
        return beside.index(row), tuple((self.work.name[one], self.work.category[one]) for one in beside)
