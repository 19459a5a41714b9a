"""Where in the backward pass an op runs, as the profiler nests it: the engine, one of its nodes, the op."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from rung.trace import Trace

ENGINE = "autograd::engine::evaluate_function: "
LEAF = "torch::autograd::AccumulateGrad"

_KEEPS_RESULT = re.compile(
    r"(Tanh|Sigmoid|Relu|(Log)?Softmax|Exp|Sqrt|Rsqrt|Reciprocal|ScaledDotProduct\w+)Backward\d*"
)
"""Nodes that save what their op left (`tools/autograd/derivatives.yaml`); others save what it read."""


@dataclass(frozen=True, slots=True)
class Node:
    """One run of a node of the backward graph: the row of its op, its name (`MulBackward0`), the row of the
    op of the forward pass whose gradients it computes (-1 where none is recorded), and that of the
    engine's op around it.

    What the engine does beside its nodes has no name: it adds gradients up, and sums them for what was
    broadcast.
    """

    row: int
    name: str
    forward: int
    engine: int

    @property
    def keeps_result(self) -> bool:
        """Whether it reads what its op of the forward pass left."""
        return _KEEPS_RESULT.fullmatch(self.name) is not None

    @property
    def keeps_inputs(self) -> bool:
        """Whether it reads what that op read; attention's reads both."""
        return not self.keeps_result or self.name.startswith("ScaledDotProduct")

    @property
    def ends(self) -> bool:
        """Whether nobody in the backward pass reads what it leaves: the gradient of a weight."""
        return self.name == LEAF

    @property
    def passes_on(self) -> bool:
        """Whether the gradient of an input is the one that it was given, as that of a bias."""
        return re.fullmatch(r"(Add|Sub|Addmm|Baddbmm)Backward\d*", self.name) is not None

    def differentiates(self, op: str) -> bool:
        """Whether this op's kernels in it compute the gradients of one input each, as the two mul of a
        `MulBackward0` and the two mm of an `AddmmBackward0` do."""
        return _stem(self.name).endswith(op.removeprefix("aten::"))


@cache
def _stem(name: str) -> str:
    return re.sub(r"Backward\d*$", "", name).lower()


class Autograd:
    """The nodes of a trace's backward pass, by the rows of ops."""

    def __init__(self, trace: Trace) -> None:
        table = trace.tables.ops
        self.name, self.parent, self.forward = table.name, table.parent.tolist(), table.forward.tolist()
        self.differentiated = frozenset(self.forward)
        self.runs = any(name.startswith(ENGINE) for name in set(table.name))
        self.nodes: dict[int, Node | None] = {-1: None}

    def node_of(self, op: int) -> Node | None:
        """The node that an op runs in; None in the forward pass."""
        if not self.runs:
            return None
        if op not in self.nodes:
            self.nodes[op] = self._node(op)
        return self.nodes[op]

    def differentiated_around(self, op: int) -> Iterator[int]:
        """An op and those around it, as far as nodes of the backward pass compute their gradients."""
        while self.runs and op >= 0:
            if op in self.differentiated:
                yield op
            op = self.parent[op]

    def _node(self, op: int) -> Node | None:
        engine, inner = op, -1
        while engine >= 0 and not self.name[engine].startswith(ENGINE):
            engine, inner = self.parent[engine], engine
        if engine < 0:
            return None
        name = self.name[engine].removeprefix(ENGINE)
        if name == LEAF or inner < 0 or self.name[inner] != name:
            return Node(engine, name if name == LEAF else "", -1, engine)
        return Node(inner, name, self.forward[inner], engine)
