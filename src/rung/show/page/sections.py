"""What the page says of one trace, ready for the template: words and numbers, no markup but our drawings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from markupsafe import Markup

from rung import names, units
from rung.insight.exhibit import Exhibit
from rung.insight.findings import Finding
from rung.insight.forward import Forward, is_drawn, is_emulated
from rung.insight.tree import Node, Tree
from rung.show.drawing.bars import where_the_time_goes
from rung.show.drawing.roofline import roofline
from rung.show.kernels import rate, shapes, work
from rung.show.plain import EMULATED
from rung.trace import Kernel


@dataclass(frozen=True, slots=True)
class KernelRow:
    """One kernel of the typical forward; numbers for sorting beside the words for reading."""

    number: int
    times: int
    op: str
    kernel: str
    name: str
    kind: str
    shapes: str
    work: str
    rate: str
    share: str
    duration: str
    ns: int
    in_all: str
    total_ns: int
    flop: int
    per_s: float
    of_ceiling: float


@dataclass(frozen=True, slots=True)
class Branch:
    """A node of the chain tree; `hidden` lines lie deeper than the page goes."""

    words: str
    duration: str
    kernels: tuple[tuple[str, str, str], ...]
    branches: tuple[Branch, ...]
    hidden: int
    launchless: str


@dataclass(frozen=True, slots=True)
class Section:
    label: str
    path: str
    facts: tuple[tuple[str, str], ...]
    cautions: tuple[str, ...]
    verdict: str
    outlook: str
    time_bar: Markup
    time_legend: tuple[tuple[str, str], ...]
    findings: tuple[dict[str, Any], ...]
    several: bool
    kernels: tuple[KernelRow, ...]
    unlisted: str
    gathered: bool
    roofline: Markup | None
    ceiling: str
    tree: tuple[Branch, ...]
    beyond: int
    loose: tuple[tuple[str, str, str], ...]


def sections(exhibits: Sequence[Exhibit]) -> list[Section]:
    """One section a trace."""
    return [_section(one) for one in exhibits]


def _section(one: Exhibit) -> Section:
    drawn = roofline(one.roofline)
    ceiling = one.roofline.ceiling
    told, shown = one.why.regions[0], _fitting(one.tree.nodes)
    return Section(
        label=one.label,
        path=one.trace.path,
        facts=tuple(_facts(one)),
        cautions=tuple(_cautions(one)),
        verdict=told.sentence,
        outlook=told.outlook,
        time_bar=Markup(where_the_time_goes(one.breakdown, one.forward.region).svg),
        time_legend=tuple(_legend(one)),
        findings=tuple(map(_finding, (*one.why.costs, *one.why.notes))),
        several=len(one.why.regions) > 1,
        kernels=tuple(_row(n, one, rows) for n, rows in enumerate(one.groups, 1)),
        unlisted=_unlisted(one),
        gathered=any(len(rows) > 1 for rows in one.groups),
        roofline=Markup(drawn.svg) if drawn else None,
        ceiling=f"{ceiling.device}: {ceiling.source}" if ceiling else "",
        tree=tuple(map(_branch, shown)),
        beyond=len(one.tree.nodes) - len(shown),
        loose=tuple(map(_leaf, one.tree.loose[:MOST])),
    )


def _facts(one: Exhibit) -> Iterator[tuple[str, str]]:
    trace, forward = one.trace, one.forward
    versions = trace.header.made.get("versions")
    yield "device", trace.device or ("none: ops stand in for kernels" if trace.stand_in else "not named")
    if isinstance(versions, dict) and versions.get("torch"):
        yield "torch", str(versions["torch"])
    if trace.rank is not None:
        yield "rank", str(trace.rank)
    yield "region", f"{forward.region}, median of {forward.instances}"
    yield "kernels", _counts(forward)
    yield "launches", str(forward.launches)
    yield "GPU busy", units.duration(forward.gpu_busy_ns.median)
    yield "CPU", units.duration(forward.cpu_ns.median)
    yield "wall", units.duration(forward.wall_ns.median)
    yield "events", f"{trace.events:,}"


def _counts(forward: Forward) -> str:
    beside = (("copy", forward.copies), ("memset", forward.memsets))
    return " + ".join([str(forward.kernels), *(units.count(n, noun) for noun, n in beside if n)])


def _cautions(one: Exhibit) -> Iterator[str]:
    if is_drawn(one.trace):
        yield "drawn from published names and times, not recorded"
    if is_emulated(one.trace):
        yield EMULATED
    if one.trace.incomplete:
        yield one.trace.incomplete
    for warning in one.trace.warnings:
        yield f"{warning.code} x{warning.count}: {warning.message}"
    shown, total = one.timeline.shown, one.timeline.total
    if shown < total:
        yield (
            f"the timeline shows {shown:,} of {total:,} spans, the longest ones: none left out is longer "
            f"than {units.duration(one.timeline.left_out_ns)}. --between shows a stretch of the trace whole."
        )


def _legend(one: Exhibit) -> Iterator[tuple[str, str]]:
    wall = one.breakdown.wall_ns or 1
    for kind, ns in (*one.breakdown.kinds, ("idle", one.breakdown.idle_ns)):
        if ns:
            yield kind, f"{units.duration(ns)}, {units.percent(ns / wall)}"


def _finding(one: Finding) -> dict[str, Any]:
    evidence = [(key.replace("_", " "), _said(key, value)) for key, value in one.evidence.items()]
    return {
        "id": one.id,
        "severity": one.severity,
        "title": one.title,
        "where": one.region or "the whole trace",
        "cost": units.duration(one.cost_ns) if one.cost_ns else "",
        "share": units.percent(one.share) if one.share >= 0.005 else "",
        "advice": one.advice,
        "evidence": [pair for pair in evidence if pair[1]],
    }


def _said(key: str, value: Any) -> str:
    """A piece of evidence for people: `_ns` and `bytes` get their units."""
    if value is None or value == [] or value == {}:
        return ""
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int | float):
        if key.endswith("_ns"):
            return units.duration(value)
        return (
            units.size(value) if key.endswith("bytes") else f"{value:,.4g}" if value % 1 else f"{value:,.0f}"
        )
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return ", ".join(value)
    return msgspec.json.encode(value).decode()


def _row(number: int, one: Exhibit, rows: Sequence[int]) -> KernelRow:
    """One kernel, or several alike: then the time is the first one's, beside that of all."""
    point, row = one.roofline.points[rows[0]], one.forward.rows[rows[0]]
    total = sum(one.forward.rows[i].dur_ns.median for i in rows)
    best = point.least_ns / row.dur_ns.median if point.least_ns and row.dur_ns.median else 0.0
    return KernelRow(
        number=number,
        times=len(rows),
        op=row.op or "",
        kernel=names.short(row.decoded),
        name=row.name,
        kind=row.kind,
        shapes=shapes(row),
        work=work(row),
        rate=rate(row),
        share=units.percent(best) if best else "",
        duration=units.duration(row.dur_ns.median),
        ns=row.dur_ns.median,
        in_all=units.duration(total),
        total_ns=total,
        flop=point.flop or 0,
        per_s=point.flop_per_s or point.bytes_per_s or 0.0,
        of_ceiling=best,
    )


def _unlisted(one: Exhibit) -> str:
    if not one.unlisted:
        return ""
    spent = units.duration(sum(one.forward.rows[i].dur_ns.median for i in one.unlisted))
    return (
        f"and {units.count(len(one.unlisted), 'more kernel')}, {spent} together: rung read --all lists them."
    )


MOST = 1500
"""Lines of the chain tree: about 300 kB of page."""

DEEPEST = 40
"""Levels of the chain tree: a template includes itself once a level, and a reader is lost long before."""


def _fitting(nodes: Sequence[Node]) -> list[Node]:
    """The first of the nodes, as many as have that many lines together."""
    shown, lines = [], 0
    for node in nodes:
        lines += _lines(node)
        if lines > MOST:
            break
        shown.append(node)
    return shown


def _lines(node: Node) -> int:
    """Its own, its kernels' and those of all inside it, however deep."""
    waiting, lines = [node], 0
    while waiting:
        one = waiting.pop()
        lines += 1 + len(one.kernels)
        waiting += one.children
    return lines


def _branch(node: Node, level: int = 1) -> Branch:
    whole = level < DEEPEST
    times = f" x{node.times}" if node.times > 1 else ""
    return Branch(
        words=f"{node.name}{times}",
        duration=units.duration(node.dur_ns),
        kernels=tuple(map(_leaf, node.kernels)),
        branches=tuple(_branch(child, level + 1) for child in node.children) if whole else (),
        hidden=0 if whole else _lines(node) - 1 - len(node.kernels),
        launchless=_launchless(node),
    )


def _launchless(node: Node | Tree) -> str:
    if not node.launchless:
        return ""
    return f"{node.launchless.total()} that launch nothing: {units.listing(list(node.launchless))}"


def _leaf(kernel: Kernel) -> tuple[str, str, str]:
    return names.short(kernel.decoded), kernel.kind, units.duration(kernel.dur_ns)
