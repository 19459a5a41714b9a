"""Why a trace takes the time it takes: a verdict with its numbers, what could be, and what was found."""

from __future__ import annotations

import html
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, overload

from rung.insight.bound import Bound, Limit
from rung.insight.findings import Case, Finding, examine, findings, rules
from rung.insight.findings.cpu_side import launch_spacing_ns
from rung.insight.forward import Forward, is_drawn
from rung.insight.prospects import Prospects, prospects
from rung.insight.regression import Regression, regression
from rung.insight.roofline import Roofline, Side
from rung.trace import Trace, frames
from rung.trace.collecting import no_collections
from rung.trace.given import check_traces
from rung.visible import printable


@dataclass(frozen=True, slots=True)
class Verdict:
    """What limits a region, and the numbers that decide it: medians over its instances, in ns.

    `compute_share` and `memory_share` are of the GPU's busy time, by the side of the ridge kernels lie on."""

    region: str
    instances: int
    limit: Limit
    sentence: str
    outlook: str
    wall_ns: int
    cpu_ns: int
    gpu_busy_ns: int
    gpu_idle_share: float
    launches: int
    launch_spacing_ns: int | None
    compute_share: float
    memory_share: float
    prospects: Prospects


@dataclass(frozen=True, slots=True)
class Why:
    """The verdict of each outermost region, the most telling first, and all findings, the largest cost first.

    `cautions` say why no count, or no time, may be trusted blindly.
    """

    path: str
    cautions: tuple[str, ...]
    regions: tuple[Verdict, ...]
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> Limit:
        """That of the median outermost region."""
        return self.regions[0].limit if self.regions else "no-gpu"

    @property
    def costs(self) -> tuple[Finding, ...]:
        """What costs something, the largest cost first."""
        return tuple(one for one in self.findings if one.cost_ns)

    @property
    def notes(self) -> tuple[Finding, ...]:
        """What costs nothing, and still matters."""
        return tuple(one for one in self.findings if not one.cost_ns and not rules()[one.id].explains)

    @property
    def explanations(self) -> tuple[Finding, ...]:
        """What costs nothing and explains a list of kernels."""
        return tuple(one for one in self.findings if not one.cost_ns and rules()[one.id].explains)

    def to_pandas(self) -> Any:
        """The findings as a `pandas.DataFrame`, one a row.

        Raises:
            MachineError: pandas is not installed.
        """
        return frames.to_pandas(_columns(self.findings))

    def to_polars(self) -> Any:
        """The same as a `polars.DataFrame`."""
        return frames.to_polars(_columns(self.findings))

    def to_arrow(self) -> Any:
        """The same as a `pyarrow.Table`."""
        return frames.to_arrow(_columns(self.findings))

    def __str__(self) -> str:
        said = [text for one in self.regions[:1] for text in (one.sentence, one.outlook) if text]
        found = (f"  {one}" for one in (*self.costs, *self.notes, *self.explanations))
        return "\n".join(map(printable, (*said, *self.cautions, *found)))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


_KINDS: dict[str, frames.Kind] = {
    "id": "text",
    "severity": "text",
    "region": "text",
    "step": "int",
    "cost_ns": "int",
    "share": "float",
    "title": "text",
    "advice": "text",
}


def _columns(found: Collection[Finding]) -> dict[str, frames.Column]:
    return {name: frames.Column(kind, [getattr(one, name) for one in found]) for name, kind in _KINDS.items()}


@overload
def why(
    trace: Trace,
    other: None = None,
    *,
    region: str | None = None,
    step: int | None = None,
    only: Collection[str] = (),
    ignore: Collection[str] = (),
    min_share: float = 0.0,
) -> Why: ...


@overload
def why(
    trace: Trace,
    other: Trace | None,
    *,
    region: str | None = None,
    step: int | None = None,
    only: Collection[str] = (),
    ignore: Collection[str] = (),
    min_share: float = 0.0,
) -> Why | Regression: ...


def why(
    trace: Trace,
    other: Trace | None = None,
    *,
    region: str | None = None,
    step: int | None = None,
    only: Collection[str] = (),
    ignore: Collection[str] = (),
    min_share: float = 0.0,
) -> Why | Regression:
    """What an expert would say about a trace, or about what makes `other` slower (or faster) than it.

    Without a region all outermost ones are looked at, or the outermost one is compared. `only` and `ignore`
    are ids of findings; those whose share of the time is below `min_share` are left out. Where the two are
    ranks of one job, `trace` is examined in the light of `other`: who waits for whom.

    Raises:
        UsageError: there is no such finding, step or region, or one of the two is no trace.
    """
    check_traces("why", trace, trace if other is None else other)
    with no_collections():
        if other is not None and not are_ranks(trace, other):
            return regression(trace, other, region, step, only=only, ignore=ignore, min_share=min_share)
        case = examine(trace, region, step, () if other is None else (other,))
        return concluded(case, only=only, ignore=ignore, min_share=min_share)


def concluded(
    case: Case, *, only: Collection[str] = (), ignore: Collection[str] = (), min_share: float = 0.0
) -> Why:
    """What is said of a case that was examined.

    Raises:
        UsageError: there is no such finding.
    """
    return Why(
        path=case.trace.path,
        cautions=tuple(_cautions(case.trace)),
        regions=tuple(map(_verdict, case.forwards, case.bounds, case.rooflines)),
        findings=findings(case, only=only, ignore=ignore, min_share=min_share),
    )


def _cautions(trace: Trace) -> Iterator[str]:
    if trace.incomplete:
        yield f"the recording is not whole: {trace.incomplete}"
    if is_drawn(trace):
        yield "drawn from published names and times, not recorded: no cost of it was measured"


def are_ranks(a: Trace, b: Trace) -> bool:
    """Whether two traces are of different ranks of one job, by all looks: as many ranks, one device."""
    if a.rank is None or b.rank is None or a.rank == b.rank:
        return False
    return (_world(a), a.device) == (_world(b), b.device)


def _world(trace: Trace) -> object:
    info = trace.header.get("distributedInfo")
    return info.get("world_size") if isinstance(info, dict) else None


def _verdict(forward: Forward, bound: Bound, roof: Roofline) -> Verdict:
    found = prospects(forward, roof)
    return Verdict(
        region=forward.region,
        instances=forward.instances,
        limit=bound.limit,
        sentence=bound.sentence,
        outlook=found.sentence(forward.wall_ns.median),
        wall_ns=forward.wall_ns.median,
        cpu_ns=forward.cpu_ns.median,
        gpu_busy_ns=forward.gpu_busy_ns.median,
        gpu_idle_share=forward.gpu_idle_share,
        launches=forward.launches,
        launch_spacing_ns=launch_spacing_ns(forward.example),
        compute_share=_share(roof, "compute"),
        memory_share=_share(roof, "memory"),
        prospects=found,
    )


def _share(roof: Roofline, side: Side) -> float:
    busy = roof.forward.gpu_busy_ns.median
    spent = sum(point.row.dur_ns.median for point in roof.points if point.side == side)
    return min(spent / busy, 1.0) if busy else 0.0
