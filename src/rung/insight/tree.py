"""The chain tree of one forward: op -> launch -> kernel, with what launches nothing folded but counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from rung.trace import Kernel, Op, Region


@dataclass(frozen=True, slots=True)
class Node:
    """An op with the work launched directly by it, the ops inside that launch work, and a count of the ops
    inside that launch nothing. `times` neighbours that look the same are one node."""

    name: str
    dur_ns: int
    kernels: tuple[Kernel, ...] = ()
    children: tuple[Node, ...] = ()
    launchless: Counter[str] = field(default_factory=Counter)
    times: int = 1

    @property
    def shape(self) -> tuple[object, ...]:
        """What makes two nodes look the same: names all the way down, not times."""
        work = tuple(kernel.name for kernel in self.kernels)
        return (self.name, work, tuple((c.shape, c.times) for c in self.children))


@dataclass(frozen=True, slots=True)
class Tree:
    """A region's top-level ops that launch work, the work launched outside any op, the launchless ops."""

    nodes: tuple[Node, ...]
    loose: tuple[Kernel, ...]
    launchless: Counter[str]


def tree(region: Region) -> Tree:
    """The chain tree of one instance of a region."""
    kernels_of: dict[int, list[Kernel]] = {}
    loose = []
    for kernel in region.work:
        if kernel.op is None:
            loose.append(kernel)
        else:
            kernels_of.setdefault(kernel.op.row, []).append(kernel)
    nodes, launchless = _siblings(region.ops, kernels_of)
    return Tree(nodes, tuple(loose), launchless)


def _siblings(
    ops: Sequence[Op], kernels_of: dict[int, list[Kernel]]
) -> tuple[tuple[Node, ...], Counter[str]]:
    nodes: list[Node] = []
    launchless: Counter[str] = Counter()
    for op in ops:
        node = _node(op, kernels_of)
        if node is None:
            launchless[op.name] += 1
            launchless.update(_names_inside(op))
        elif nodes and nodes[-1].shape == node.shape:
            nodes[-1] = replace(nodes[-1], times=nodes[-1].times + 1)
        else:
            nodes.append(node)
    return tuple(nodes), launchless


def _node(op: Op, kernels_of: dict[int, list[Kernel]]) -> Node | None:
    children, launchless = _siblings(op.children, kernels_of)
    own = tuple(kernels_of.get(op.row, ()))
    if not children and not own:
        return None
    return Node(op.name, op.dur_ns, own, children, launchless)


def _names_inside(op: Op) -> Counter[str]:
    found: Counter[str] = Counter()
    for child in op.children:
        found[child.name] += 1
        found.update(_names_inside(child))
    return found
