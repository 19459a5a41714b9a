"""A CPU operator as an object."""

from __future__ import annotations

from typing import Any

from rung.trace.rows import Rows, View


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
        return self.trace.ops.at(self.trace.tables.ops.parent[self.row])

    @property
    def children(self) -> Rows[Op]:
        """The ops directly inside, by start."""
        return self.trace.ops.select(self.trace.op_children.of(self.row))

    @property
    def forward(self) -> Op | None:
        """For an op of the backward pass, the op of the forward pass whose gradient it computes."""
        return self.trace.ops.at(self.trace.tables.ops.forward[self.row])

    @property
    def args(self) -> dict[str, Any]:
        """The event's arguments, decoded anew at each call."""
        return self.trace.args_of_span(self.trace.tables.ops.span[self.row])

    @property
    def shapes(self) -> list[Any]:
        """`Input Dims`: a list of ints a tensor, `[]` for a scalar or an absent input; [] if not recorded."""
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


def _list(args: dict[str, Any], *keys: str) -> list[Any]:
    for key in keys:
        value = args.get(key)
        if isinstance(value, list):
            return value
    return []
