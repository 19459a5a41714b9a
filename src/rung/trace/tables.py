"""The columns behind a `Trace`: one table a word, integer ns since the trace's first event, -1 for "none"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Members:
    """Rows of one table, sorted by the row of another that they belong to."""

    items: Ints
    offsets: Ints

    def of(self, row: int) -> Ints:
        return self.items[self.offsets[row] : self.offsets[row + 1]]


def members(owner: Ints, owners: int, items: Ints | None = None) -> Members:
    """The rows (or these `items`) that each of `owners` rows owns, in order; -1 owns nothing."""
    items = np.arange(len(owner)) if items is None else items
    order = np.lexsort((items, owner))
    return Members(items[order], np.searchsorted(owner[order], np.arange(owners + 1)))


@dataclass(frozen=True, slots=True)
class OpTable:
    """CPU operators by start. `parent` and `forward` are rows of this table; `thread` is `(pid, tid)`."""

    span: Ints
    name: list[str]
    start_ns: Ints
    dur_ns: Ints
    thread: list[tuple[int | str | None, int | str | None]]
    parent: Ints
    forward: Ints


@dataclass(frozen=True, slots=True)
class LaunchTable:
    """Calls that put work on a device, by start. `op` is the innermost op around the call."""

    span: Ints
    name: list[str]
    start_ns: Ints
    dur_ns: Ints
    timed: Bools
    op: Ints
    graph: Bools
    occupancy_query: Bools


@dataclass(frozen=True, slots=True)
class CallTable:
    """Other calls of the runtime and driver (synchronise, allocate, query, ...) by start, and what the
    recorder and the driver did beside the program (`overhead`: loading a module, flushing a buffer).

    All are timed. `op` is the innermost op around a call.
    """

    name: list[str]
    start_ns: Ints
    dur_ns: Ints
    op: Ints
    overhead: Bools


@dataclass(frozen=True, slots=True)
class KernelTable:
    """Device work by start (or, without a device, the ops that stand in for it); untimed rows come last.

    `category` is kernel, copy, memset or op. `dur_ns` is clipped to the successor on the stream where the
    recording overran it; `raw_dur_ns` is as recorded.
    """

    span: Ints
    name: list[str]
    category: list[str]
    start_ns: Ints
    dur_ns: Ints
    raw_dur_ns: Ints
    timed: Bools
    device: list[int | str | None]
    stream: list[int | str | None]
    correlation: list[int | None]
    launch: Ints
    op: Ints
    region: Ints
    step: Ints


@dataclass(frozen=True, slots=True)
class RegionTable:
    """Instances of user annotations, else steps, else the whole trace. `step` is a step's number or -1.

    `kernels`, `launches`, `ops` and `calls` hold all that happened inside, nested regions included.
    """

    name: list[str]
    start_ns: Ints
    cpu_ns: Ints
    parent: Ints
    step: Ints
    kernels: Members
    launches: Members
    ops: Members
    calls: Members


@dataclass(frozen=True, slots=True)
class StepTable:
    number: Ints
    start_ns: Ints
    cpu_ns: Ints


def index_of(rows: Ints, size: int) -> Ints:
    """Where each of `size` rows stands in a list of rows: -1 if it does not, and for row -1."""
    index = np.full(size + 1, -1, dtype=np.int64)
    index[rows] = np.arange(len(rows))
    return index


def take(values: Ints, rows: Ints) -> Ints:
    """`values[rows]`, -1 where a row is -1."""
    return np.append(values, -1)[rows]
