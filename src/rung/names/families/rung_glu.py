"""Rung's own GLU kernels, by their names: `rung_gate_up_hopper_gelu_tanh_192x64x64_s5`."""

from __future__ import annotations

import re
from typing import Any

from rung.names.decoded import Decoded

_ACTIVATION = r"(?P<activation>gelu_tanh|gelu|silu|relu|sigmoid|identity)"
_TILE = r"(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)(_s(?P<stages>\d+))?"
_GATE_UP = re.compile(
    rf"rung_gate_up(?P<tma>_tma|_hopper)?(_row|_sixteen)?_{_ACTIVATION}_{_TILE}(?P<saved>_saved)?"
)
_DOWN_BACKWARD = re.compile(rf"rung_down_backward_hopper_{_ACTIVATION}_{_TILE}")
_GATE_UP_BACKWARD = re.compile(rf"rung_gate_up_backward_hopper_{_TILE}")
_DOWN = re.compile(rf"rung_down(_row|_sixteen)?_{_TILE}")
_GLU = re.compile(rf"rung_glu(?P<backward>_backward)?_{_ACTIVATION}")

_HOPPER = {"arch": "sm_90", "unit": "wgmma"}


def decode(name: str) -> Decoded | None:
    """A kernel of Rung, or None."""
    if found := _GATE_UP.fullmatch(name):
        fields = _gemm(found)
        if found["tma"]:
            fields = {**_HOPPER, **fields}
        fields["epilogue"] = [found["activation"], "mul"]
        if found["saved"]:
            fields["also_writes"] = "gate and up, for backward"
        return Decoded(name, "rung", "gemm", fields)
    if found := _DOWN_BACKWARD.fullmatch(name):
        epilogue = [f"{found['activation']}_backward", "mul"]
        return Decoded(name, "rung", "gemm", {**_HOPPER, **_gemm(found), "epilogue": epilogue})
    if found := _GATE_UP_BACKWARD.fullmatch(name):
        return Decoded(name, "rung", "gemm", {**_HOPPER, **_gemm(found)})
    if found := _DOWN.fullmatch(name):
        return Decoded(name, "rung", "gemm", _gemm(found))
    if found := _GLU.fullmatch(name):
        direction = "backward" if found["backward"] else "forward"
        fields = {"functor": "glu", "direction": direction, "ops": [found["activation"], "mul"]}
        return Decoded(name, "rung", "pointwise", fields)
    return None


def _gemm(found: re.Match[str]) -> dict[str, Any]:
    tile = [int(found[key]) for key in ("m", "n", "k")]
    stages = {"stages": int(found["stages"])} if found["stages"] else {}
    return {"tile": tile, **stages, "accumulate": "fp32"}
