"""The timelines as numbers for the scripts: columns of differences, names once, facts about kernels once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rung import names, units
from rung.insight.exhibit import Exhibit
from rung.insight.forward import WorkRow
from rung.insight.timeline import Lane
from rung.show.kernels import rate, shapes, work
from rung.trace.tables import Ints
from rung.visible import printable

ROLES = ("region", "op", "launch", "call", "kernel")


def times(exhibits: Sequence[Exhibit]) -> list[dict[str, Any]]:
    """One entry a trace. Times in ns."""
    return [_trace(one) for one in exhibits]


def _trace(one: Exhibit) -> dict[str, Any]:
    drawn = one.timeline
    kernels = _kernel_names(one)
    decoded = [names.decode(name) if i in kernels else None for i, name in enumerate(drawn.names)]
    return {
        "label": printable(one.label),
        "dur": drawn.dur_ns,
        "opens": list(one.opens_ns),
        "names": [printable(name) for name in drawn.names],
        "said": [printable(names.short(d)) if d else "" for d in decoded],
        "kind": [d.kind if d else "" for d in decoded],
        "lanes": [_lane(one, lane) for lane in drawn.lanes],
        "facts": [_facts(one.forward.rows[rows[0]]) for rows in one.groups],
    }


def _kernel_names(one: Exhibit) -> set[int]:
    return {int(n) for lane in one.timeline.lanes if lane.kind == "gpu" for n in np.unique(lane.name)}


def _lane(one: Exhibit, lane: Lane) -> dict[str, Any]:
    made: dict[str, Any] = {
        "label": printable(lane.label),
        "kind": lane.kind,
        "start": _differences(lane.start_ns),
        "dur": lane.dur_ns.tolist(),
        "name": lane.name.tolist(),
        "depth": lane.depth.tolist(),
    }
    if lane.kind == "cpu":
        made["role"] = [ROLES.index(role) for role in lane.role]
        made["shapes"] = _shapes(one, lane)
        if one.trace.stand_in:
            made["fact"] = [
                one.group_of.get(row, -1) if role == "op" else -1
                for role, row in zip(lane.role, lane.row.tolist(), strict=True)
            ]
    if lane.kind == "gpu":
        made["link"] = lane.link.tolist()
        made["fact"] = [one.group_of.get(row, -1) for row in lane.row.tolist()]
    return made


def _differences(values: Ints) -> list[int]:
    return list(np.diff(values, prepend=0).tolist())


def _shapes(one: Exhibit, lane: Lane) -> dict[str, Any]:
    """The input shapes of ops: the texts, and for each span which one; -1 for none."""
    texts: dict[str, int] = {}
    said = []
    for role, row in zip(lane.role, lane.row.tolist(), strict=True):
        shown = _inputs(one, row) if role == "op" else ""
        said.append(texts.setdefault(shown, len(texts)) if shown else -1)
    return {"texts": list(texts), "of": said}


def _inputs(one: Exhibit, row: int) -> str:
    dims = [d for d in one.trace.ops[row].shapes if d]
    return printable(" ".join(str(d) for d in dims[:4]))


def _facts(row: WorkRow) -> list[list[str]]:
    """What is known of a kernel beside its time: a label and words each."""
    told = [
        ("op", " > ".join(row.path)),
        ("shapes", shapes(row)),
        ("work", work(row)),
        ("memory", units.size(row.work.nbytes) if row.work.flop and row.work.nbytes else ""),
        ("rate", rate(row)),
        ("median", units.duration(row.dur_ns.median)),
        ("launched by", row.launch or ""),
        *(("", line) for line in names.explain(row.decoded)),
    ]
    return [[label, printable(words)] for label, words in told if words]
