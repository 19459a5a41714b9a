"""All spans of a stretch of time as columns, whichever table they come from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rung.trace import Trace
from rung.trace.tables import Ints, take

Label = tuple[str, Literal["annotation", "cpu", "gpu"]]


@dataclass(frozen=True, slots=True)
class Gathered:
    """Spans in no order. `lane` counts in `labels`; `launch` is a row of launches, -1 for none."""

    name: list[str]
    role: list[str]
    row: Ints
    start_ns: Ints
    dur_ns: Ints
    lane: Ints
    launch: Ints
    labels: list[Label]

    def take(self, rows: Ints) -> Gathered:
        """Some of the spans."""
        picked = rows.tolist()
        return Gathered(
            [self.name[i] for i in picked],
            [self.role[i] for i in picked],
            self.row[rows],
            self.start_ns[rows],
            self.dur_ns[rows],
            self.lane[rows],
            self.launch[rows],
            self.labels,
        )

    def positions_of_launches(self) -> Ints:
        """For each span where its launch stands among these; -1 where it has none, or it is not here."""
        at = {int(self.row[i]): i for i, role in enumerate(self.role) if role == "launch"}
        return np.array([at.get(row, -1) if row >= 0 else -1 for row in self.launch.tolist()], dtype=np.int64)


def gather(trace: Trace, start: int, end: int) -> Gathered:
    """Every annotation, op, launch, call and piece of device work that touches `[start, end)`, uncut."""
    parts = [_regions(trace), *_cpu(trace), _work(trace)]
    labels = list(dict.fromkeys(label for part in parts for label in part.labels))
    lane_of = {label: i for i, label in enumerate(sorted(labels, key=_standing))}
    whole = Gathered(
        [name for part in parts for name in part.name],
        [role for part in parts for role in part.role],
        np.concatenate([part.row for part in parts]),
        np.concatenate([part.start_ns for part in parts]),
        np.concatenate([part.dur_ns for part in parts]),
        np.concatenate([_renumbered(part, lane_of) for part in parts]),
        np.concatenate([part.launch for part in parts]),
        sorted(labels, key=_standing),
    )
    inside = (whole.start_ns < max(end, start + 1)) & (whole.start_ns + whole.dur_ns >= start)
    return whole.take(np.flatnonzero(inside))


def _standing(label: Label) -> tuple[int, list[str | int]]:
    """From top to bottom: annotations, CPU threads, devices; stream 2 before stream 10."""
    words = re.split(r"([0-9]+)", label[0])
    return ("annotation", "cpu", "gpu").index(label[1]), [int(w) if i % 2 else w for i, w in enumerate(words)]


def _renumbered(part: Gathered, lane_of: dict[Label, int]) -> Ints:
    return np.array([lane_of[label] for label in part.labels], dtype=np.int64)[part.lane]


def _part(
    name: list[str], role: str, start: Ints, dur: Ints, labels: list[Label], launch: Ints | None = None
) -> Gathered:
    """Rows of one table, each with its lane's label."""
    known = list(dict.fromkeys(labels)) or [("", "cpu")]
    number = {label: i for i, label in enumerate(known)}
    lane = np.array([number[label] for label in labels], dtype=np.int64)
    none = np.full(len(name), -1, dtype=np.int64)
    rows = np.arange(len(name))
    return Gathered(
        name,
        [role] * len(name),
        rows,
        start,
        dur,
        lane,
        none if launch is None else launch,
        known if name else [],
    )


def _regions(trace: Trace) -> Gathered:
    table = trace.tables.regions
    label: Label = ("annotations", "annotation")
    return _part(table.name, "region", table.start_ns, table.cpu_ns, [label] * len(table.name))


def _cpu(trace: Trace) -> list[Gathered]:
    """Ops by thread; calls of the runtime on the thread of the op around them."""
    tables = trace.tables
    threads = [_thread(thread) for thread in tables.ops.thread]
    main = max(set(threads), key=threads.count) if threads else ("CPU", "cpu")

    def lanes(op: Ints) -> list[Label]:
        return [threads[row] if row >= 0 else main for row in op.tolist()]

    launches, calls = tables.launches, tables.calls
    return [
        _part(tables.ops.name, "op", tables.ops.start_ns, tables.ops.dur_ns, threads),
        _part(
            launches.name,
            "launch",
            launches.start_ns,
            np.where(launches.timed, launches.dur_ns, 0),
            lanes(launches.op),
        ),
        _part(calls.name, "call", calls.start_ns, calls.dur_ns, lanes(calls.op)),
    ]


def _thread(thread: tuple[int | str | None, int | str | None]) -> Label:
    return f"CPU thread {thread[1]}", "cpu"


def _work(trace: Trace) -> Gathered:
    """Kernels, copies and memsets by device and stream; ops that stand in for them have lanes already."""
    table = trace.tables.kernels
    rows = np.flatnonzero(table.timed & np.array([c != "op" for c in table.category], dtype=bool))
    picked = rows.tolist()
    labels: list[Label] = [(f"GPU {table.device[i]} stream {table.stream[i]}", "gpu") for i in picked]
    part = _part(
        [table.name[i] for i in picked],
        "kernel",
        table.start_ns[rows],
        table.raw_dur_ns[rows],
        labels,
        take(table.launch, rows),
    )
    return Gathered(
        part.name, part.role, rows, part.start_ns, part.dur_ns, part.lane, part.launch, part.labels
    )
