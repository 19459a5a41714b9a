"""Launching the GLU of two tensors, and its gradient. Arguments are checked, autograd is not here."""

from __future__ import annotations

import torch

from rung.glu import reference
from rung.glu.devices import why_no_kernel
from rung.glu.views import device_index, lines, vector_width

BLOCK = 1024


def glu(gate: torch.Tensor, up: torch.Tensor, activation: str) -> torch.Tensor:
    """act(gate) * up in one kernel, contiguous; by the reference where there is no kernel."""
    if why_no_kernel(gate.device, gate.dtype) or not gate.numel():
        return reference.glu(gate, up, activation)
    out = torch.empty(gate.shape, dtype=gate.dtype, device=gate.device)
    _launch("GLU", activation, lines(gate, up), (out,))
    return out


def glu_backward(
    grad: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, activation: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients for gate and up in one kernel, contiguous; nothing that was saved is overwritten."""
    if why_no_kernel(gate.device, gate.dtype) or not gate.numel():
        return reference.glu_backward(grad, gate, up, activation)
    grad_gate = torch.empty(gate.shape, dtype=gate.dtype, device=gate.device)
    grad_up = torch.empty(gate.shape, dtype=gate.dtype, device=gate.device)
    _launch("GLU_BACKWARD", activation, lines(grad, gate, up), (grad_gate, grad_up))
    return grad_gate, grad_up


def _launch(
    kernel: str, activation: str, inputs: tuple[torch.Tensor, ...], outputs: tuple[torch.Tensor, ...]
) -> None:
    from rung.glu.kernels import table
    from rung.glu.kernels.launch import Spec

    rows, columns = inputs[0].shape
    width = vector_width(inputs, columns)
    spec = Spec(inputs[0].dtype, width > 1, (activation, width, BLOCK), 4, 1)
    sizes = (columns // width, *(tensor.stride(0) // width for tensor in inputs))
    blocks = rows * -(-columns // BLOCK)
    getattr(table, kernel).launch(spec, blocks, (*inputs, *outputs, *sizes), device_index(inputs[0]))
