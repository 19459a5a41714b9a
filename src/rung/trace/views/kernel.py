"""A piece of device work as an object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rung import names
from rung.trace.rows import View

if TYPE_CHECKING:
    from rung.trace.views.launch import Launch
    from rung.trace.views.op import Op
    from rung.trace.views.region import Region

NAME_CATEGORY = {"kernel": "kernel", "copy": "gpu_memcpy", "memset": "gpu_memset"}


class Kernel(View):
    """One piece of work on a device: kernel, copy or memset; on a CPU-only trace an op in its stead."""

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
        return names.decode(self.name, NAME_CATEGORY[self.category])

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
        return self.trace.ops.at(self.trace.tables.kernels.op[self.row])

    @property
    def launch(self) -> Launch | None:
        return self.trace.launches.at(self.trace.tables.kernels.launch[self.row])

    @property
    def latency_ns(self) -> int | None:
        """From the launch's start to this one's; 0 where it comes before, None where either is unknown."""
        tables, launch = self.trace.tables, self.launch
        if launch is None or not (tables.kernels.timed[self.row] and tables.launches.timed[launch.row]):
            return None
        return max(self.start_ns - launch.start_ns, 0)

    @property
    def region(self) -> Region | None:
        """The innermost region around the launch, or around the work itself where it is unlinked."""
        return self.trace.regions.at(self.trace.tables.kernels.region[self.row])

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
