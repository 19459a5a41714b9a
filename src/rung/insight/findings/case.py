"""What rules look at: a trace, its regions as typical forwards, and what its device can do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rung.insight.bound import Bound, bound
from rung.insight.ceilings import Ceiling, ceiling_of
from rung.insight.findings.activity import Activity, activity
from rung.insight.findings.cpu_side import Meanwhile, meanwhile
from rung.insight.forward import Forward, forward, instances, is_drawn, region_names
from rung.insight.opportunities import Opportunity, opportunities
from rung.insight.roofline import Roofline, roofline
from rung.trace import Region, Trace


@dataclass(frozen=True)
class Case:
    """One trace under examination. `forwards` are those of its outermost regions, the most telling first.

    `peers` are traces of the same job's other ranks; what is seen between ranks needs them.
    """

    trace: Trace
    forwards: tuple[Forward, ...]
    step: int | None = None
    peers: tuple[Trace, ...] = ()

    @cached_property
    def ceiling(self) -> Ceiling | None:
        """What the trace's device can do; None where that is unknown, and where no time was measured."""
        return None if is_drawn(self.trace) else ceiling_of(self.trace)

    @cached_property
    def rooflines(self) -> tuple[Roofline, ...]:
        """One for each forward, in the same order."""
        return tuple(roofline(one, self.ceiling) for one in self.forwards)

    @cached_property
    def opportunities(self) -> tuple[tuple[Opportunity, ...], ...]:
        """What fusing would save in each forward, in the same order."""
        return tuple(map(opportunities, self.rooflines))

    @cached_property
    def bounds(self) -> tuple[Bound, ...]:
        """What limits each forward, in the same order."""
        return tuple(map(bound, self.forwards, self.rooflines))

    @cached_property
    def activity(self) -> Activity:
        """When the devices work."""
        return activity(self.trace)

    @cached_property
    def meanwhile(self) -> Meanwhile:
        """What the CPU does."""
        return meanwhile(self.trace)

    def instances(self, one: Forward) -> list[Region]:
        """The instances that a forward was laid together from."""
        return self._instances[one.region]

    def alike(self, one: Forward) -> list[Region]:
        """Those of them that ran what the forward's rows list."""
        return self._alike[one.region]

    @cached_property
    def _instances(self) -> dict[str, list[Region]]:
        return {one.region: instances(self.trace, one.region, self.step) for one in self.forwards}

    @cached_property
    def _alike(self) -> dict[str, list[Region]]:
        return {one.region: _alike(one, self.instances(one)) for one in self.forwards}


def _alike(forward: Forward, regions: list[Region]) -> list[Region]:
    name = forward.example.trace.tables.kernels.name
    wanted = [name[row] for row in forward.example.work.rows.tolist()]
    return [one for one in regions if [name[row] for row in one.work.rows.tolist()] == wanted]


def examine(
    trace: Trace, region: str | None = None, step: int | None = None, peers: tuple[Trace, ...] = ()
) -> Case:
    """A case of one region, or of all outermost ones.

    Raises:
        UsageError: the trace has no such step, or no region of that name (in that step).
    """
    names = region_names(trace, step) if region is None else [region]
    return Case(trace, tuple(forward(trace, name, step) for name in names), step, peers)
