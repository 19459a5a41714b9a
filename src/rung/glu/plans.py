"""What was found out about a call, kept for the next one like it.

A plan belongs to a geometry: shapes, strides, dtypes, devices, alignment, options; never to a weight, so
weights may be swapped, moved or changed in place between calls. Looking one up takes 3 µs, making one 30 to
110.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import torch

from rung.glu import seen
from rung.glu.devices import kind_of

MOST = 4096
"""Plans kept; at the next one all are forgotten."""

_PLANS: dict[Hashable, Any] = {}

find: Callable[[Hashable], Any] = _PLANS.get
"""The plan kept for a key, or None."""


def key(x: Any, gate: Any, up: Any, gate_bias: Any, up_bias: Any, *options: Hashable) -> Hashable:
    """All that the gate-up kernels' checks and rules look at."""
    a, b, c = x.data_ptr(), gate.data_ptr(), up.data_ptr()
    return (
        x.shape, x.stride(), x.dtype, x.device, gate.shape, gate.stride(), gate.dtype, gate.device,
        up.shape, up.stride(), up.dtype, up.device, (a | b | c) & 15, b == c,
        None if gate_bias is None else of(gate_bias), None if up_bias is None else of(up_bias),
        x.dtype is torch.float32 and kind_of(x.dtype), *options,
    )  # fmt: skip


def of(tensor: torch.Tensor) -> Hashable:
    """All that checks and rules look at in one tensor."""
    return tensor.shape, tensor.stride(), tensor.dtype, tensor.device, tensor.data_ptr() & 15


def keep(where: Hashable, plan: Any) -> Any:
    """Keeps and returns `plan`."""
    if len(_PLANS) >= MOST:
        _PLANS.clear()
    _PLANS[where] = plan
    return plan


def forget() -> None:
    """After the rules have changed: a tile was tuned."""
    _PLANS.clear()
    seen.forget()
