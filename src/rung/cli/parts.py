"""Which part of each trace goes into a copy, and on which clock."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rung.trace import Trace
    from rung.trace.export import Part, Stretch


def parts_of(
    traces: Sequence[Trace], region: str | None, step: int | None, between: tuple[int, int] | None
) -> list[Part]:
    """The traces as parts of one file; `region`, `step` or `between` (ns since a trace's first event) say
    what to keep of each. Ranks of one job keep their clocks, others begin together.

    Raises:
        UsageError: a trace has no such region or step.
    """
    from rung.trace.export import Part

    stretches = [_stretch(trace, region, step, between) for trace in traces]
    together = len(traces) > 1 and not _one_job(traces)
    first = _opening(traces[0])
    return [
        Part(
            trace.path,
            label,
            kept,
            first - _opening(trace) if together else 0,
        )
        for trace, label, kept in zip(traces, labels(traces), stretches, strict=True)
    ]


def labels(traces: Sequence[Trace]) -> list[str]:
    """The ranks where there are several, else the files' names."""
    if _one_job(traces):
        return [f"rank {trace.rank}" for trace in traces]
    return names_of([trace.path for trace in traces])


def names_of(paths: Sequence[str]) -> list[str]:
    """Files' names without their suffixes; where two are the same, with their folders', or else numbered."""
    stems = [_named(path) for path in paths]
    told = [
        one if stems.count(one) == 1 else f"{Path(path).parent.name}/{one}"
        for one, path in zip(stems, paths, strict=True)
    ]
    return [
        one if told.count(one) == 1 else f"{one} ({told[: i + 1].count(one)})" for i, one in enumerate(told)
    ]


def _named(path: str) -> str:
    return "standard input" if path == "-" else stem(Path(path).name)


def stem(name: str) -> str:
    """`eager.json.gz` -> `eager`"""
    return name.removesuffix(".gz").removesuffix(".json")


def _one_job(traces: Sequence[Trace]) -> bool:
    from rung.insight.why import are_ranks

    return len(traces) > 1 and all(are_ranks(a, b) for a, b in combinations(traces, 2))


def _opening(trace: Trace) -> int:
    """Where the first region begins, on the recorder's clock."""
    starts = [region.start_ns for region in trace.regions if region.parent is None]
    return trace.origin_ns + min(starts, default=0)


def _stretch(
    trace: Trace, region: str | None, step: int | None, between: tuple[int, int] | None
) -> Stretch | None:
    from rung.insight.forward import forward, instances
    from rung.trace.export import Stretch

    check_stretch(trace, between)

    if between is not None:
        return Stretch(trace.origin_ns + between[0], trace.origin_ns + between[1])
    if region is not None:
        kept = [forward(trace, region, step).example]
    elif step is not None:
        kept = instances(trace, None, step)
    else:
        return None
    ends = [one.start_ns + one.cpu_ns for one in kept] + [k.end_ns for one in kept for k in one.work]
    numbers = [kernel.correlation for one in kept for kernel in one.work]
    return Stretch(
        trace.origin_ns + min(one.start_ns for one in kept),
        trace.origin_ns + max(ends),
        frozenset(n for n in numbers if n is not None),
    )


def check_stretch(trace: Trace, between: tuple[int, int] | None) -> None:
    """See that something of a trace lies in a stretch of time.

    Raises:
        UsageError: it ended before.
    """
    from rung import units
    from rung.errors import UsageError

    if between is not None and between[0] > trace.span_ns:
        raise UsageError(
            f"--between: {trace.path} ends {units.duration(trace.span_ns)} after its first event, "
            f"before {units.duration(between[0])}."
        )
