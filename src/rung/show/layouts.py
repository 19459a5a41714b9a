"""What strides have to do with a linear layer: before and after `t()`, and what compiled code insists on."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from rung.ladder.linear_facts import Layout, LinearFacts
from rung.show.fitting import point


def lines(facts: LinearFacts) -> Iterator[RenderableType]:
    """The facts as one paragraph a question."""
    yield Text("What aten::t does", style="bold")
    yield point(f"weight {_shown(facts.weight)}  ->  weight.t() {_shown(facts.transposed)}")
    same = "the same storage: not one byte moved" if facts.same_storage else "another storage: bytes moved"
    yield point(same)
    if not facts.asserted:
        return
    yield Text("What compiled code insists on", style="bold")
    yield point(f"hard-coded by Inductor: {', '.join(_shown(layout) for layout in facts.asserted)}")
    yield point(f"{_other(facts)}")


def _other(facts: LinearFacts) -> str:
    given = f"the same input with stride {facts.other.stride} instead of {facts.input.stride}"
    if not facts.recompiles:
        return f"{given}: no recompile"
    again = "a recompile" if facts.recompiles == 1 else f"{facts.recompiles} recompiles"
    return f"{given}: {again}, and the new code insists on that stride"


def _shown(layout: Layout) -> str:
    return f"shape {layout.shape} stride {layout.stride}"
