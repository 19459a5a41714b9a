"""The GLU of two tensors, and its gradient, in one launch. Arguments are checked, autograd is not here."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import torch

from rung.glu import plans, reference
from rung.glu.devices import why_no_kernel
from rung.glu.views import device_index, lines, vector_width

if TYPE_CHECKING:
    from rung.glu.kernels.launch import Launch

BLOCK = 1024
"""Elements of a block of 4 warps, 16 bytes a thread: more a thread is slower (37 µs at [8192, 3072], 41 with
32 bytes), fewer or more threads a block are not."""


class Plan(NamedTuple):
    """A prepared kernel, and whether its inputs have to be copied to rows it can walk."""

    launch: Launch
    address: Callable[[torch.Tensor], Any]
    copied: bool

    def run(self, inputs: tuple[torch.Tensor, ...], outputs: tuple[torch.Tensor, ...]) -> None:
        seen = lines(*inputs) if self.copied else inputs
        self.launch(*map(self.address, seen), *map(self.address, outputs))


def glu(gate: torch.Tensor, up: torch.Tensor, activation: str) -> torch.Tensor:
    """act(gate) * up in one kernel, contiguous; by the reference where there is no kernel."""
    if why_no_kernel(gate.device, gate.dtype) or not gate.numel():
        return reference.glu(gate, up, activation)
    plan = planned("GLU", activation, gate, up) or _plan("GLU", activation, gate, up)
    return run(plan, gate, up)


def glu_backward(
    grad: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, activation: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients for gate and up in one kernel, contiguous; nothing that was saved is overwritten."""
    if why_no_kernel(gate.device, gate.dtype) or not gate.numel():
        return reference.glu_backward(grad, gate, up, activation)
    inputs = (grad, gate, up)
    plan = planned("GLU_BACKWARD", activation, *inputs) or _plan("GLU_BACKWARD", activation, *inputs)
    outputs = (gate.new_empty(gate.shape), gate.new_empty(gate.shape))
    plan.run(inputs, outputs)
    return outputs


def run(plan: Plan, gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """act(gate) * up by its plan."""
    out = gate.new_empty(gate.shape)
    plan.run((gate, up), (out,))
    return out


def planned(kernel: str, activation: str, *inputs: torch.Tensor) -> Plan | None:
    """The plan kept for inputs like these, or None."""
    return cast("Plan | None", plans.find(_key(kernel, activation, inputs)))


def _key(kernel: str, activation: str, inputs: tuple[torch.Tensor, ...]) -> Hashable:
    return kernel, activation, *map(plans.of, inputs)


def _plan(kernel: str, activation: str, *inputs: torch.Tensor) -> Plan:
    from rung.glu.kernels import table
    from rung.glu.kernels.launch import Spec, address

    seen = lines(*inputs)
    (rows, columns), dtype = seen[0].shape, seen[0].dtype
    width = vector_width(seen, columns)
    launch = getattr(table, kernel).prepare(
        Spec(dtype, width > 1, (activation, width, BLOCK), 4, 1),
        device_index(seen[0]),
        rows * -(-columns // BLOCK),
        (dtype,) * (2 * len(seen) - 1),  # one output fewer than inputs
        (columns // width, *(tensor.stride(0) // width for tensor in seen)),
    )
    copied = any(a.data_ptr() != b.data_ptr() for a, b in zip(inputs, seen, strict=True))
    plan = Plan(launch, address, copied)
    return cast(Plan, plans.keep(_key(kernel, activation, inputs), plan))
