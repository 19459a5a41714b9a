"""The kernels by name. A traced kernel carries its spec in its name, such as
`rung_gate_up_tma_bf16_gelu_tanh_128x128x64_s4`."""

from __future__ import annotations

from typing import Any

from rung.glu.kernels.down import _down
from rung.glu.kernels.gate_up import _gate_up
from rung.glu.kernels.gate_up_tma import _gate_up_tma
from rung.glu.kernels.launch import Kernel
from rung.glu.kernels.one_row import _down_row, _gate_up_row
from rung.glu.kernels.pointwise import _glu, _glu_backward
from rung.glu.kernels.sixteen_rows import _down_sixteen, _gate_up_sixteen


def tile_name(constants: dict[str, Any]) -> str:
    return f"{constants['BM']}x{constants['BN']}x{constants['BK']}_s{constants['STAGES']}"


def _strip(constants: dict[str, Any]) -> str:
    return f"1x{constants['BN']}x{constants['BK']}"


def gate_up_name(constants: dict[str, Any]) -> str:
    kept = "_saved" if constants["SAVE"] else ""
    return f"{constants['ACT']}_{tile_name(constants)}{kept}"


GLU = Kernel(_glu, lambda constants: constants["ACT"])
GLU_BACKWARD = Kernel(_glu_backward, lambda constants: constants["ACT"])
GATE_UP = Kernel(_gate_up, gate_up_name)
GATE_UP_TMA = Kernel(_gate_up_tma, gate_up_name)
DOWN = Kernel(_down, tile_name)
GATE_UP_SIXTEEN = Kernel(_gate_up_sixteen, lambda constants: f"{constants['ACT']}_{tile_name(constants)}")
DOWN_SIXTEEN = Kernel(_down_sixteen, tile_name)
GATE_UP_ROW = Kernel(_gate_up_row, lambda constants: f"{constants['ACT']}_{_strip(constants)}")
DOWN_ROW = Kernel(_down_row, _strip)
