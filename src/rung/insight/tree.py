"""The chain tree of one forward: op -> launch -> kernel, with what launches nothing folded but counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from rung.trace import Kernel, Op, Region


@dataclass(frozen=True, slots=True)
class Node:
    """An op with the work launched directly by it, the ops inside that launch work, and a count of the ops
    inside that launch nothing. `times` neighbours that look the same are one node: `shape` is made of the
    names all the way down, not of times."""

    name: str
    dur_ns: int
    kernels: tuple[Kernel, ...] = ()
    children: tuple[Node, ...] = ()
    launchless: Counter[str] = field(default_factory=Counter)
    times: int = 1
    shape: int = 0


@dataclass(frozen=True, slots=True)
class Tree:
    """A region's top-level ops that launch work, work launched outside those, the launchless ops."""

    nodes: tuple[Node, ...]
    loose: tuple[Kernel, ...]
    launchless: Counter[str]


def tree(region: Region) -> Tree:
    """The chain tree of one instance of a region."""
    rows = region.trace.tables.regions.ops.of(region.row)
    kernels_of: dict[int, list[Kernel]] = {row: [] for row in rows.tolist()}
    loose: list[Kernel] = []
    for kernel in region.work:
        kernels_of.get(kernel.op.row if kernel.op else -1, loose).append(kernel)
    built: dict[int, Node | Counter[str]] = {}
    for op in reversed(region.trace.ops.select(rows)):
        inside = [built.pop(child.row) for child in op.children if child.row in built]
        built[op.row] = _node(op, kernels_of[op.row], inside)
    nodes, launchless = _folded(built[op.row] for op in region.ops)
    return Tree(nodes, tuple(loose), launchless)


def _node(op: Op, own: list[Kernel], inside: list[Node | Counter[str]]) -> Node | Counter[str]:
    """An op that launches work, by itself or inside; else the names of the op and of those inside it."""
    children, launchless = _folded(inside)
    if not children and not own:
        return Counter([op.name]) + launchless
    shape = hash((op.name, tuple(k.name for k in own), tuple((c.shape, c.times) for c in children)))
    return Node(op.name, op.dur_ns, tuple(own), children, launchless, shape=shape)


def _folded(siblings: Iterable[Node | Counter[str]]) -> tuple[tuple[Node, ...], Counter[str]]:
    nodes: list[Node] = []
    launchless: Counter[str] = Counter()
    for sibling in siblings:
        if isinstance(sibling, Counter):
            launchless.update(sibling)
        elif nodes and nodes[-1].shape == sibling.shape:
            nodes[-1] = replace(nodes[-1], times=nodes[-1].times + 1)
        else:
            nodes.append(sibling)
    return tuple(nodes), launchless
