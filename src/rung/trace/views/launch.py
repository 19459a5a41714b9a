"""A launch as an object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rung.trace.rows import Rows, View

if TYPE_CHECKING:
    from rung.trace.views.kernel import Kernel
    from rung.trace.views.op import Op


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
        return self.trace.ops.at(self.trace.tables.launches.op[self.row])

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
        return self.trace.kernels.select(self.trace.launch_work.of(self.row))
