"""Which tensors pass from kernel to kernel through memory, as far as shapes and autograd's nodes tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rung.insight.autograd import Autograd, Node
from rung.insight.forward import Forward
from rung.insight.sources import Key, Passed, Run, Sources, key_of
from rung.insight.tensors import Tensor
from rung.insight.traffic import Traffic, joined, traffic_of


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

    def handed_on(self, rows: Collection[int]) -> list[Passed]:
        """Each tensor that one of these rows writes and another reads, once."""
        first: dict[int, Passed] = {}
        for passed in self.inside(rows):
            first.setdefault(passed.writer, passed)
        return [first[writer] for writer in sorted(first)]

    def from_outside(self, rows: Collection[int]) -> list[Tensor]:
        """What these rows read besides what they hand on to one another."""
        left = [tensor for row in rows for tensor in self.reads[row]]
        for passed in self.inside(rows):
            left.remove(passed.tensor)
        return left

    def needed_outside(self, rows: Collection[int], kept: Collection[int] = ()) -> set[int]:
        """Those of the rows whose tensor others read as well. What autograd keeps counts for those of `kept`
        alone."""
        among = frozenset(rows)
        return {
            row
            for row in rows
            if any(p.reader not in among and (p.how != "kept" or row in kept) for p in self.given[row])
        }

    def shared(self, rows: Collection[int]) -> list[tuple[Passed, Passed]]:
        """Each gradient from outside that one of these rows reads after another, with the first reading."""
        first: dict[int, Passed] = {}
        found = []
        for passed in (p for row in rows for p in self.received[row]):
            known = first.setdefault(passed.writer, passed)
            if passed.how == "gradient" and known.reader != passed.reader and passed.writer not in rows:
                found.append((known, passed))
        return found

    def linked(self, rows: Sequence[int]) -> list[list[int]]:
        """Those of the rows that hand tensors on to one another, group by group, with those beside them
        that read the same gradient."""
        group = {row: row for row in rows}

        def root(row: int) -> int:
            while group[row] != row:
                row = group[row]
            return row

        inside = self.inside(rows)
        beside = [(first.reader, again.reader) for first, again in self.shared(rows)]
        for one, other in (*((p.writer, p.reader) for p in inside), *beside):
            group[root(other)] = root(one)
        handing = {root(p.writer) for p in inside}
        found: dict[int, list[int]] = {one: [] for one in sorted(handing)}
        for row in rows:
            if root(row) in handing:
                found[root(row)].append(row)
        return list(found.values())


def flow(forward: Forward) -> Flow:
    """How tensors pass through one forward."""
    trace, rows = forward.example.trace, forward.example.work.rows
    walk = _Walk(Autograd(trace))
    for moved, op in zip(forward.told(traffic_of), trace.tables.kernels.op[rows].tolist(), strict=True):
        walk.step(moved, op)
    return walk.flow


class _Walk:
    """A walk along the kernels of a forward: what each read and wrote so far."""

    def __init__(self, autograd: Autograd) -> None:
        self.autograd = autograd
        self.sources = Sources()
        self.reads: list[tuple[Tensor, ...]] = []
        self.writes: list[Tensor | None] = []
        self.received: list[tuple[Passed, ...]] = []
        self.runs: dict[int, Run] = {}
        self.in_engine: dict[int, Run] = {}
        self.of_op: defaultdict[int, list[int]] = defaultdict(list)

    def step(self, moved: Traffic, op: int) -> None:
        """Take the next kernel, launched by the op in this row."""
        read, written = self._joined(moved) if moved.joins else (moved.reads, moved.writes)
        self.received.append(self.sources.read(read, moved.op, moved.role, self._run(moved.op, op)))
        if written is not None:
            self.sources.write(written)
        if read or written:
            for around in self.autograd.differentiated_around(op):
                self.of_op[around].append(len(self.reads))
        self.reads.append(read)
        self.writes.append(written)

    def _joined(self, moved: Traffic) -> tuple[tuple[Tensor, ...], Tensor | None]:
        """A list of tensors has the dtype of one which a kernel wrote before."""
        dtypes = {self.sources.dtype_of(part.numel) for part in moved.reads} - {None}
        return joined(moved.reads, str(dtypes.pop())) if len(dtypes) == 1 else ((), None)

    def _run(self, name: str, op: int) -> Run | None:
        node = self.autograd.node_of(op)
        if node is None:
            return None
        beside = self.in_engine.get(node.engine)
        if not node.name and name == "aten::sum" and beside is not None and beside.node.passes_on:
            return beside
        if node.row not in self.runs:
            self.runs[node.row] = self.in_engine[node.engine] = self._begun(node)
        return self.runs[node.row]

    def _begun(self, node: Node) -> Run:
        """A run of a node, with what the op of the forward pass left for it."""
        rows = self.of_op.get(node.forward, [])
        saved: defaultdict[Key, list[int]] = defaultdict(list)
        for passed in (p for row in rows if node.keeps_inputs for p in self.received[row]):
            saved[key_of(passed.tensor)].append(passed.writer)
        left = [(row, out) for row in rows if (out := self.writes[row]) is not None]
        for row, out in left if node.keeps_result else ():
            saved[key_of(out)].append(row)
        return Run(node, bool(rows), saved, key_of(left[0][1]) if len(rows) == len(left) == 1 else None)

    @property
    def flow(self) -> Flow:
        """What was seen, both ways."""
        given: list[list[Passed]] = [[] for _ in self.reads]
        for passed in (p for got in self.received for p in got):
            given[passed.writer].append(passed)
        return Flow(tuple(self.reads), tuple(self.writes), tuple(self.received), tuple(map(tuple, given)))
