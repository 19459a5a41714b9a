"""Light views on one row of a trace's tables. They own nothing: a view is a trace and a row number."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from rung import names
from rung.trace.intervals import union_ns
from rung.trace.rows import Rows, View, maybe
from rung.trace.tables import Ints

class Op(View):
    """A CPU-side operator event. Times in ns since the trace's first event."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return self.trace.tables.ops.name[self.row]

    @property
    def start_ns(self) -> int:
        return int(self.trace.tables.ops.start_ns[self.row])

    @property
    def dur_ns(self) -> int:
        return int(self.trace.tables.ops.dur_ns[self.row])

    @property
    def end_ns(self) -> int:
        return self.start_ns + self.dur_ns

    @property
    def thread(self) -> tuple[int | str | None, int | str | None]:
        """`(pid, tid)`"""
        return self.trace.tables.ops.thread[self.row]

    @property
    def parent(self) -> Op | None:
        """The op around this one on its thread."""
        return maybe(self.trace, Op, self.trace.tables.ops.parent[self.row])

    @property
    def children(self) -> Rows[Op]:
        """The ops directly inside, by start."""
        items, offsets = self.trace.op_children
        return Rows(self.trace, Op, items[offsets[self.row] : offsets[self.row + 1]])

    @property
    def forward(self) -> Op | None:
        """For an op of the backward pass, the op of the forward pass whose gradient it computes."""
        return maybe(self.trace, Op, self.trace.tables.ops.forward[self.row])

    @property
    def args(self) -> dict[str, Any]:
        """The event's arguments, decoded anew at each call."""
        return self.trace.args_of_span(self.trace.tables.ops.span[self.row])

    @property
    def shapes(self) -> list[Any]:
        """`Input Dims`: a list of ints for a tensor, `[]` for a scalar or an absent input; [] if not recorded."""
        return _list(self.args, "Input Dims", "Input dims")

    @property
    def dtypes(self) -> list[str]:
        """`Input type`, as recorded: `c10::BFloat16`, `float`, `Scalar`, ..."""
        return _list(self.args, "Input type")

    @property
    def strides(self) -> list[Any]:
        """`Input Strides` in elements."""
        return _list(self.args, "Input Strides")

    @property
    def concrete_inputs(self) -> list[str]:
        """`Concrete Inputs`: the text of scalars, empty for tensors."""
        return _list(self.args, "Concrete Inputs")

    @property
    def sequence_number(self) -> int | None:
        """The autograd number a forward op shares with its backward op."""
        return self.args.get("Sequence number")


class Launch(View):
    """A call that put work on a device."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return self.trace.tables.launches.name[self.row]

    @property
    def start_ns(self) -> int:
        return int(self.trace.tables.launches.start_ns[self.row])

    @property
    def dur_ns(self) -> int:
        return int(self.trace.tables.launches.dur_ns[self.row])

    @property
    def op(self) -> Op | None:
        """The innermost op around the call on its thread."""
        return maybe(self.trace, Op, self.trace.tables.launches.op[self.row])

    @property
    def is_graph(self) -> bool:
        """Whether the call replays a captured graph: one launch, many kernels."""
        return bool(self.trace.tables.launches.graph[self.row])

    @property
    def occupancy_query(self) -> bool:
        """Whether the op asked for the kernel's occupancy right before this launch."""
        return bool(self.trace.tables.launches.occupancy_query[self.row])

    @property
    def kernels(self) -> Rows[Kernel]:
        """What the call put on the device: kernels, copies and memsets."""
        return Rows(self.trace, Kernel, np.flatnonzero(self.trace.tables.kernels.launch == self.row))


class Kernel(View):
    """One piece of work on a device: kernel, copy or memset; on a CPU-only trace an op that stands in for one."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return self.trace.tables.kernels.name[self.row]

    @property
    def category(self) -> str:
        """`kernel`, `copy`, `memset`, or `op` for a stand-in."""
        return self.trace.tables.kernels.category[self.row]

    @property
    def decoded(self) -> names.Decoded:
        """What the name says."""
        if self.category == "op":
            return names.decode_op(self.name)
        return names.decode(self.name, _NAME_CATEGORY[self.category])

    @property
    def kind(self) -> names.Kind:
        return self.decoded.kind

    @property
    def family(self) -> str:
        return self.decoded.family

    @property
    def start_ns(self) -> int:
        return int(self.trace.tables.kernels.start_ns[self.row])

    @property
    def dur_ns(self) -> int:
        """Duration, clipped where the recording overran the next work on the stream; 0 if it has no time."""
        return int(self.trace.tables.kernels.dur_ns[self.row])

    @property
    def raw_dur_ns(self) -> int:
        """Duration as recorded."""
        return int(self.trace.tables.kernels.raw_dur_ns[self.row])

    @property
    def end_ns(self) -> int:
        return self.start_ns + self.dur_ns

    @property
    def device(self) -> int | str | None:
        return self.trace.tables.kernels.device[self.row]

    @property
    def stream(self) -> int | str | None:
        return self.trace.tables.kernels.stream[self.row]

    @property
    def correlation(self) -> int | None:
        return self.trace.tables.kernels.correlation[self.row]

    @property
    def op(self) -> Op | None:
        """The innermost op around the launch; for a stand-in the op itself."""
        return maybe(self.trace, Op, self.trace.tables.kernels.op[self.row])

    @property
    def launch(self) -> Launch | None:
        return maybe(self.trace, Launch, self.trace.tables.kernels.launch[self.row])

    @property
    def region(self) -> Region | None:
        """The innermost region around the launch, or around the work itself where it is unlinked."""
        return maybe(self.trace, Region, self.trace.tables.kernels.region[self.row])

    @property
    def step(self) -> int | None:
        row = int(self.trace.tables.kernels.step[self.row])
        return int(self.trace.tables.steps.number[row]) if row >= 0 else None

    @property
    def occupancy_query(self) -> bool:
        launch = self.launch
        return launch is not None and self.category == "kernel" and launch.occupancy_query

    @property
    def args(self) -> dict[str, Any]:
        """The event's arguments, decoded anew at each call."""
        return self.trace.args_of_span(self.trace.tables.kernels.span[self.row])


_NAME_CATEGORY = {"kernel": "kernel", "copy": "gpu_memcpy", "memset": "gpu_memset"}


class Region(View):
    """One instance of a user annotation, or a step, or the whole trace."""

    __slots__ = ("__dict__",)

    @property
    def name(self) -> str:
        return self.trace.tables.regions.name[self.row]

    @property
    def step(self) -> int | None:
        number = int(self.trace.tables.regions.step[self.row])
        return number if number >= 0 else None

    @property
    def start_ns(self) -> int:
        return int(self.trace.tables.regions.start_ns[self.row])

    @property
    def cpu_ns(self) -> int:
        """How long the annotation was open on the CPU."""
        return int(self.trace.tables.regions.cpu_ns[self.row])

    @property
    def parent(self) -> Region | None:
        return maybe(self.trace, Region, self.trace.tables.regions.parent[self.row])

    @cached_property
    def work(self) -> Rows[Kernel]:
        """Everything launched inside: kernels, copies and memsets, by start."""
        return Rows(self.trace, Kernel, self._items("kernel"))

    @cached_property
    def kernels(self) -> Rows[Kernel]:
        return self._of("kernel", "op")

    @cached_property
    def copies(self) -> Rows[Kernel]:
        return self._of("copy")

    @cached_property
    def memsets(self) -> Rows[Kernel]:
        return self._of("memset")

    @cached_property
    def launches(self) -> Rows[Launch]:
        return Rows(self.trace, Launch, self._items("launch"))

    @cached_property
    def ops(self) -> Rows[Op]:
        """The outermost ops inside the region, by start."""
        rows = self._items("op")
        return Rows(self.trace, Op, rows[~np.isin(self.trace.tables.ops.parent[rows], rows)])

    @cached_property
    def gpu_busy_ns(self) -> int:
        """Union of the intervals in which a kernel, copy or memset of this region ran."""
        rows = self._device_rows
        table = self.trace.tables.kernels
        return union_ns(table.start_ns[rows], table.start_ns[rows] + table.dur_ns[rows])

    @cached_property
    def gpu_span_ns(self) -> int:
        """From the first such work's start to the last one's end."""
        rows = self._device_rows
        table = self.trace.tables.kernels
        if not len(rows):
            return 0
        return int((table.start_ns[rows] + table.dur_ns[rows]).max() - table.start_ns[rows].min())

    @property
    def wall_ns(self) -> int:
        return max(self.cpu_ns, self.gpu_span_ns)

    @property
    def gpu_idle_share(self) -> float:
        """`1 - gpu_busy_ns / wall_ns`, 0 for a region that took no time."""
        return 1 - self.gpu_busy_ns / self.wall_ns if self.wall_ns else 0.0

    @property
    def _device_rows(self) -> Ints:
        rows = self.work.rows
        if self.trace.stand_in:
            return rows[:0]
        return rows[self.trace.tables.kernels.timed[rows]]

    def _items(self, table: str) -> Ints:
        regions = self.trace.tables.regions
        offsets: Ints = getattr(regions, f"{table}_offsets")
        items: Ints = getattr(regions, f"{table}_items")
        return items[offsets[self.row] : offsets[self.row + 1]]

    def _of(self, *categories: str) -> Rows[Kernel]:
        known = self.trace.tables.kernels.category
        rows = [i for i in self.work.rows.tolist() if known[i] in categories]
        return Rows(self.trace, Kernel, np.array(rows, dtype=np.int64))


class Step(View):
    """One `ProfilerStep#N`."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return f"ProfilerStep#{self.number}"

    @property
    def number(self) -> int:
        return int(self.trace.tables.steps.number[self.row])

    @property
    def start_ns(self) -> int:
        return int(self.trace.tables.steps.start_ns[self.row])

    @property
    def cpu_ns(self) -> int:
        return int(self.trace.tables.steps.cpu_ns[self.row])


def _list(args: dict[str, Any], *keys: str) -> list[Any]:
    for key in keys:
        value = args.get(key)
        if isinstance(value, list):
            return value
    return []
