"""A region and a step as objects."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rung.trace.intervals import union_ns
from rung.trace.rows import Rows, View
from rung.trace.tables import Ints

if TYPE_CHECKING:
    from rung.trace.views.kernel import Kernel
    from rung.trace.views.launch import Launch
    from rung.trace.views.op import Op


class Region(View):
    """One instance of a user annotation, or a step, or the whole trace."""

    __slots__ = ("__dict__",)

    @property
    def name(self) -> str:
        return self.trace.tables.regions.name[self.row]

    @property
    def instance(self) -> int:
        """How many regions of this name came before."""
        return self.trace.region_instance[self.row]

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
        return self.trace.regions.at(self.trace.tables.regions.parent[self.row])

    @cached_property
    def work(self) -> Rows[Kernel]:
        """Everything launched inside: kernels, copies and memsets, by start."""
        return self.trace.kernels.select(self.trace.tables.regions.kernels.of(self.row))

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
        return self.trace.launches.select(self.trace.tables.regions.launches.of(self.row))

    @cached_property
    def ops(self) -> Rows[Op]:
        """The outermost ops inside the region, by start."""
        rows = self.trace.tables.regions.ops.of(self.row)
        return self.trace.ops.select(rows[~np.isin(self.trace.tables.ops.parent[rows], rows)])

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

    def _of(self, *categories: str) -> Rows[Kernel]:
        known = self.trace.tables.kernels.category
        rows = [i for i in self.work.rows.tolist() if known[i] in categories]
        return self.trace.kernels.select(np.array(rows, dtype=np.int64))


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
