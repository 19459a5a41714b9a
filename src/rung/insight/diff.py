"""Two traces compared, in data and in sentences."""

from __future__ import annotations

import html
from dataclasses import dataclass

from rung.insight.compare import Comparison, compare
from rung.insight.forward import Forward, forward, is_drawn, is_emulated
from rung.insight.narrate import changed, unchanged
from rung.trace import Trace
from rung.trace.collecting import no_collections
from rung.trace.given import check_traces


@dataclass(frozen=True, slots=True)
class Diff(Comparison):
    """A comparison, and what it says. No sentence speaks of time where a trace was drawn."""

    changed: tuple[str, ...]
    unchanged: tuple[str, ...]

    def __str__(self) -> str:
        said = [f"  {s}" for s in self.changed or ("nothing",)]
        kept = [f"  {s}" for s in self.unchanged or ("nothing",)]
        return "\n".join(["What changed", *said, "What stayed the same", *kept])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def diff(a: Trace, b: Trace, region: str | None = None) -> Diff:
    """Compare one forward of B with one of A.

    Without a region the outermost one of each trace is taken.

    Raises:
        UsageError: one of the two has no region of that name, or is no trace.
    """
    check_traces("diff", a, b)
    with no_collections():
        return describe(forward(a, region), forward(b, region))


def describe(a: Forward, b: Forward) -> Diff:
    """Compare two forwards and say what there is to say."""
    found = compare(a, b)
    times = not any(is_drawn(f.example.trace) or is_emulated(f.example.trace) for f in (a, b))
    return Diff(
        found.a,
        found.b,
        found.same,
        found.gone,
        found.new,
        found.fused,
        found.round_trips_removed,
        tuple(changed(found, times=times)),
        tuple(unchanged(found, times=times)),
    )
