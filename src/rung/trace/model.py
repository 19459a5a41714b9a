"""The trace: what a recording holds, linked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import count
from typing import Any

import msgspec
import numpy as np
from msgspec import Raw

from rung.trace import frames
from rung.trace.events import decode_args
from rung.trace.packed import PackedArgs
from rung.trace.rows import Rows
from rung.trace.summary import summary
from rung.trace.tables import (
    Bools,
    CallTable,
    KernelTable,
    LaunchTable,
    Members,
    OpTable,
    RegionTable,
    StepTable,
    members,
)
from rung.trace.views import Kernel, Launch, Op, Region, Step
from rung.trace.warnings import Warning


@dataclass(frozen=True, slots=True)
class Tables:
    """The columns of a trace, for vectorised work; the views read them row by row."""

    ops: OpTable
    launches: LaunchTable
    calls: CallTable
    kernels: KernelTable
    regions: RegionTable
    steps: StepTable


@dataclass(frozen=True, slots=True)
class Chain:
    """The way to a kernel: region, step, the ops around its launch (outermost first), the launch."""

    region: Region | None
    step: int | None
    ops: tuple[Op, ...]
    launch: Launch | None
    kernel: Kernel


class Header:
    """The top-level members of a trace beside its events."""

    def __init__(self, members: dict[str, Raw]) -> None:
        self.members = members

    def get(self, key: str) -> Any:
        """A top-level member, decoded; None if it is absent or damaged."""
        try:
            return msgspec.json.decode(self.members[key]) if key in self.members else None
        except msgspec.DecodeError:
            return None

    @property
    def metadata(self) -> dict[str, Any]:
        """All members, decoded."""
        return {key: self.get(key) for key in self.members}

    @property
    def made(self) -> dict[str, Any]:
        """What `rung.record` left of the run (`"rung"`): how it was made. Empty for others' recordings."""
        found = self.get("rung")
        return found if isinstance(found, dict) else {}

    @property
    def device_properties(self) -> list[dict[str, Any]]:
        found = self.get("deviceProperties")
        return [d for d in found if isinstance(d, dict)] if isinstance(found, list) else []

    @property
    def device(self) -> str | None:
        """The name of the first device that has one."""
        names = [properties.get("name") for properties in self.device_properties]
        return next((name for name in names if isinstance(name, str)), None)

    @property
    def rank(self) -> int | None:
        """The rank that `torch.distributed` had, if it ran."""
        info = self.get("distributedInfo")
        rank = info.get("rank") if isinstance(info, dict) else None
        return rank if isinstance(rank, int) else None


class Trace:
    """One Kineto / Chrome trace, decoded and linked. All times are integer ns since its first event.

    On a CPU-only trace `stand_in` is true and `kernels` are the innermost compute ops.
    """

    def __init__(
        self,
        path: str,
        header: Header,
        tables: Tables,
        span_args: PackedArgs | Callable[[], PackedArgs],
        warnings: list[Warning],
        *,
        events: int,
        skipped_events: int,
        repaired_events: int,
        origin_ns: int,
        span_ns: int,
        stand_in: bool,
        incomplete: str | None,
    ) -> None:
        self.path = path
        self.header = header
        self.tables = tables
        self.warnings = warnings
        self.events = events
        self.skipped_events = skipped_events
        self.repaired_events = repaired_events
        self.origin_ns = origin_ns
        """Absolute time of the first event, in the recorder's clock."""
        self.span_ns = span_ns
        self.stand_in = stand_in
        self.incomplete = incomplete
        """Why no count of this trace may be trusted blindly; None if it is whole."""
        self._span_args = span_args

    @property
    def device(self) -> str | None:
        """The device's name in the header's `deviceProperties`."""
        return self.header.device

    @property
    def rank(self) -> int | None:
        return self.header.rank

    @cached_property
    def ops(self) -> Rows[Op]:
        return Rows(self, Op, np.arange(len(self.tables.ops.name)))

    @cached_property
    def launches(self) -> Rows[Launch]:
        return Rows(self, Launch, np.arange(len(self.tables.launches.name)))

    @cached_property
    def kernels(self) -> Rows[Kernel]:
        """All device work by start: kernels, copies and memsets, told apart by `category`."""
        return Rows(self, Kernel, np.arange(len(self.tables.kernels.name)))

    @cached_property
    def regions(self) -> Rows[Region]:
        return Rows(self, Region, np.arange(len(self.tables.regions.name)))

    @cached_property
    def steps(self) -> Rows[Step]:
        return Rows(self, Step, np.arange(len(self.tables.steps.number)))

    def chain(self, kernel: Kernel) -> Chain:
        """The way from region through ops and launch to a kernel of this trace."""
        ops: list[Op] = []
        op = kernel.op
        while op is not None:
            ops.append(op)
            op = op.parent
        return Chain(kernel.region, kernel.step, tuple(reversed(ops)), kernel.launch, kernel)

    @cached_property
    def op_children(self) -> Members:
        """The rows of ops directly inside each op."""
        parent = self.tables.ops.parent
        return members(parent, len(parent))

    @cached_property
    def working_ops(self) -> Bools:
        """Which ops put work on a device (or are the work, on a CPU), by themselves or by an op inside."""
        parent, found = self.tables.ops.parent, np.zeros(len(self.tables.ops.name), dtype=bool)
        rows = np.unique(np.concatenate([self.tables.launches.op, self.tables.kernels.op]))
        while (rows := rows[rows >= 0]).size:
            rows = rows[~found[rows]]
            found[rows] = True
            rows = np.unique(parent[rows])
        return found

    @cached_property
    def launch_work(self) -> Members:
        """The rows of kernels that each launch put on a device."""
        return members(self.tables.kernels.launch, len(self.tables.launches.name))

    @cached_property
    def op_work(self) -> Members:
        """The rows of kernels whose innermost op each op is."""
        return members(self.tables.kernels.op, len(self.tables.ops.name))

    @cached_property
    def regions_named(self) -> dict[str, list[int]]:
        """The rows of regions by name."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for row, name in enumerate(self.tables.regions.name):
            found[name].append(row)
        return dict(found)

    @cached_property
    def region_instance(self) -> list[int]:
        """For each region, how many of its name came before it."""
        counters: defaultdict[str, count[int]] = defaultdict(count)
        return [next(counters[name]) for name in self.tables.regions.name]

    def args_of_span(self, span: int) -> dict[str, Any]:
        """The arguments of an event by its row among the complete events, decoded anew at each call."""
        return decode_args(self.span_args()[span])

    def span_args(self) -> PackedArgs:
        """The text of the arguments of all complete events."""
        if not isinstance(self._span_args, PackedArgs):
            self._span_args = self._span_args()  # a cached trace fetches them when they are first wanted
        return self._span_args

    def to_pandas(self, table: str = "kernels") -> Any:
        """`ops`, `launches`, `kernels` or `regions` as a `pandas.DataFrame`, as docs/tables.md lists them.

        Raises:
            UsageError: there is no such table.
            MachineError: pandas is not installed.
        """
        return frames.to_pandas(frames.columns(self, table))

    def to_polars(self, table: str = "kernels") -> Any:
        """The same as a `polars.DataFrame`."""
        return frames.to_polars(frames.columns(self, table))

    def to_arrow(self, table: str = "kernels") -> Any:
        """The same as a `pyarrow.Table`."""
        return frames.to_arrow(frames.columns(self, table))

    def __str__(self) -> str:
        return "\n".join(summary(self))

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def __repr__(self) -> str:
        return (
            f"<Trace {self.path}: {len(self.regions)} regions, {len(self.ops)} ops, "
            f"{len(self.launches)} launches, {len(self.kernels)} kernels>"
        )
