"""The GLU of two tensors, and its gradient, in one launch. Arguments are checked, autograd is not here."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import torch

from rung.glu import memory, plans, reference
from rung.glu.devices import why_no_kernel
from rung.glu.memory import Make
from rung.glu.views import device_index, lines, vector_width

if TYPE_CHECKING:
    from rung.glu.kernels.launch import Launch

BLOCK = 1024
"""Elements of a block of 4 warps, 16 bytes a thread: more a thread is slower (37 µs at [8192, 3072], 41 with
32 bytes), fewer or more threads a block are not."""


class Plan(NamedTuple):
    """A prepared kernel, what makes its outputs, and whether its inputs have to be copied first."""

    launch: Launch
    address: Callable[[torch.Tensor], Any]
    make: Make
    copied: bool

    def run(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """One output fewer than inputs."""
        seen = lines(*inputs) if self.copied else inputs
        outputs = tuple([self.make() for _ in inputs[1:]])
        self.launch(*map(self.address, seen), *map(self.address, outputs))
        return outputs


def glu(gate: torch.Tensor, up: torch.Tensor, activation: str) -> torch.Tensor:
    """act(gate) * up in one kernel, contiguous; by the reference where there is no kernel."""
    if why_no_kernel(gate.device, gate.dtype) or not gate.numel():
        return reference.glu(gate, up, activation)
    plan = planned("GLU", activation, gate, up) or _plan("GLU", activation, gate, up)
    return plan.run(gate, up)[0]


def glu_backward(
    grad: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, activation: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients for gate and up in one kernel, contiguous; nothing that was saved is overwritten."""
    if why_no_kernel(gate.device, gate.dtype) or not gate.numel():
        return reference.glu_backward(grad, gate, up, activation)
    inputs = (grad, gate, up)
    plan = planned("GLU_BACKWARD", activation, *inputs) or _plan("GLU_BACKWARD", activation, *inputs)
    grad_gate, grad_up = plan.run(*inputs)
    return grad_gate, grad_up


def glu_backward_side_by_side(
    grad: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, activation: str
) -> torch.Tensor:
    """The same for [M, N] as one tensor [M, 2 N]: both gradients can then be one factor of a product."""
    if why_no_kernel(gate.device, gate.dtype) or not gate.numel():
        return torch.cat(reference.glu_backward(grad, gate, up, activation), dim=1)
    from rung.glu.kernels.launch import address

    inputs = tuple(tensor if tensor.stride(1) == 1 else tensor.contiguous() for tensor in (grad, gate, up))
    where = ("side by side", *_key("GLU_BACKWARD", activation, inputs))
    columns = gate.shape[1]
    launch = plans.find(where) or plans.keep(where, _prepare("GLU_BACKWARD", activation, inputs, 2 * columns))
    both = gate.new_empty((gate.shape[0], 2 * columns))
    launch(*map(address, inputs), *map(address, both.chunk(2, dim=1)))
    return both


def planned(kernel: str, activation: str, *inputs: torch.Tensor) -> Plan | None:
    """The plan kept for inputs like these, or None."""
    return cast("Plan | None", plans.find(_key(kernel, activation, inputs)))


def _key(kernel: str, activation: str, inputs: tuple[torch.Tensor, ...]) -> tuple[Hashable, ...]:
    return kernel, activation, *map(plans.of, inputs)


def _plan(kernel: str, activation: str, *inputs: torch.Tensor) -> Plan:
    from rung.glu.kernels.launch import address

    seen = lines(*inputs)
    columns, dtype = seen[0].shape[1], seen[0].dtype
    launch = _prepare(kernel, activation, seen, columns)
    copied = any(a.data_ptr() != b.data_ptr() for a, b in zip(inputs, seen, strict=True))
    plan = Plan(launch, address, memory.prepare(tuple(inputs[0].shape), dtype, inputs[0].device), copied)
    return cast(Plan, plans.keep(_key(kernel, activation, inputs), plan))


def _prepare(kernel: str, activation: str, seen: tuple[torch.Tensor, ...], out_row: int) -> Launch:
    """For inputs [rows, columns] and outputs whose rows are `out_row` elements apart."""
    from rung.glu.kernels import table
    from rung.glu.kernels.launch import Spec

    (rows, columns), dtype = seen[0].shape, seen[0].dtype
    width = vector_width(seen, columns)
    strides = [tensor.stride(0) for tensor in seen]
    strides += [out_row] if kernel == "GLU_BACKWARD" else []
    return cast(
        "Launch",
        getattr(table, kernel).prepare(
            Spec(dtype, width > 1, (activation, width, BLOCK), 4, 1),
            device_index(seen[0]),
            rows * -(-columns // BLOCK),
            (dtype,) * (2 * len(seen) - 1),
            (columns // width, *(stride // width for stride in strides)),
        ),
    )
