"""Copies from the host that the GPU has to wait for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rung import names, units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.looking import alone, of_category, of_name
from rung.insight.findings.rule import Rule
from rung.insight.forward import Forward, WorkRow


def find(case: Case) -> Iterator[Sighting]:
    forwards = [forward for forward in case.forwards if any(_is_from_host(row) for row in forward.rows)]
    if not forwards:
        return
    copies, kernels = of_name(case.trace, "copy", _from_host), of_category(case.trace, "kernel")
    for forward in forwards:
        spent, exposed = (time.median for time in alone(case.instances(forward), copies, kernels))
        rows = [row for row in forward.rows if _is_from_host(row)]
        if exposed or any(map(_is_pageable, rows)):
            yield _sighting(forward, rows, spent, exposed)


def _from_host(decoded: names.Decoded) -> bool:
    return decoded.fields.get("direction") == "HtoD"


def _is_from_host(row: WorkRow) -> bool:
    return row.category == "copy" and _from_host(row.decoded)


def _is_pageable(row: WorkRow) -> bool:
    return row.decoded.fields.get("from") == "Pageable"


def _sighting(forward: Forward, copies: Sequence[WorkRow], spent: int, exposed: int) -> Sighting:
    pageable = sum(map(_is_pageable, copies))
    moved = sum(row.work.nbytes or 0 for row in copies)
    held = _held_ns(forward)
    memory = "pageable" if pageable == len(copies) else "partly pageable" if pageable else "pinned"
    rate = f", {units.byte_rate(moved / spent * 1e9)}" if moved and spent else ""
    what = units.size(moved) if moved else "an unrecorded number of bytes"
    times = f" in {len(copies)} copies" if len(copies) > 1 else ""
    costs = [f"no kernel runs for {units.duration(exposed)} of it"] if exposed else []
    costs += [f"the pageable ones hold the CPU for {units.duration(held)}"] if pageable else []
    return Sighting(
        title=f"{what} come from the host{times}, {units.duration(spent)} ({memory} memory{rate}): "
        f"{' and '.join(costs)}",
        advice=_advice(bool(pageable)),
        forward=forward,
        cost_ns=exposed,
        evidence={
            "copies": len(copies),
            "pageable": pageable,
            "bytes": moved or None,
            "copy_ns": spent,
            "exposed_ns": exposed,
            "cpu_held_ns": held,
        },
    )


def _held_ns(forward: Forward) -> int:
    """How long the calls that copy from pageable memory last: they return when it has been read."""
    tables = forward.example.trace.tables
    rows = forward.example.work.rows[[_is_from_host(row) and _is_pageable(row) for row in forward.rows]]
    launches = np.unique(tables.kernels.launch[rows])
    return int(tables.launches.dur_ns[launches[launches >= 0]].sum())


def _advice(pageable: bool) -> str:
    pin = (
        "Pin the host memory (DataLoader(pin_memory=True), tensor.pin_memory()) and copy"
        if pageable
        else "Copy"
    )
    return f"{pin} the next batch with non_blocking=True on a stream of its own, while this one computes."


RULE = Rule(
    id="h2d-blocking",
    topic="data",
    shows="Copies from pageable host memory, or copies from the host while no kernel runs.",
    means="The data path stalls the GPU; a pageable copy also holds the CPU until it is through.",
    do="Pin the memory, copy with `non_blocking=True` and prefetch the next batch on another stream.",
    find=find,
)
