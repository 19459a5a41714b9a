"""The Gluon kernels by name, apart from the others: importing Gluon takes time, and not every Triton has
it."""

from __future__ import annotations

from triton.experimental import gluon

from rung.glu.kernels.down_backward_hopper import _down_backward_hopper
from rung.glu.kernels.gate_up_backward_hopper import _gate_up_backward_hopper
from rung.glu.kernels.gate_up_hopper import _gate_up_hopper
from rung.glu.kernels.launch import Kernel
from rung.glu.kernels.table import gate_up_name, tile_name

GATE_UP_HOPPER = Kernel(_gate_up_hopper, gate_up_name, gluon.jit)
DOWN_BACKWARD_HOPPER = Kernel(
    _down_backward_hopper, lambda constants: f"{constants['ACT']}_{tile_name(constants)}", gluon.jit
)
GATE_UP_BACKWARD_HOPPER = Kernel(_gate_up_backward_hopper, tile_name, gluon.jit)
