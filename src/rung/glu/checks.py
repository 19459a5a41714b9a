"""Arguments are checked once, at the public functions: one error, with what was expected and what came."""

from __future__ import annotations

import torch

from rung.glu.activations import ACTIVATIONS

DTYPES = (torch.bfloat16, torch.float16, torch.float32, torch.float64)
ROUNDINGS = ("single", "eager")


def check_choice(activation: str, rounding: str = "single") -> None:
    """Raises ValueError for an activation or a rounding that is not known."""
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation is {activation!r}: expected one of {', '.join(ACTIVATIONS)}")
    if rounding not in ROUNDINGS:
        raise ValueError(f"rounding is {rounding!r}: expected one of {', '.join(ROUNDINGS)}")


def check_glu(gate: torch.Tensor, up: torch.Tensor, activation: str) -> None:
    """Raises TypeError or ValueError unless `up` is like `gate`: same shape, dtype and device."""
    check_choice(activation)
    _check_tensor("gate", gate)
    _check_like("up", up, "gate", gate)
    if up.shape != gate.shape:
        raise ValueError(f"up has shape {_shape(up)}: expected {_shape(gate)}, that of gate")


def check_mlp(
    x: torch.Tensor,
    gate_weight: torch.Tensor,
    up_weight: torch.Tensor,
    down_weight: torch.Tensor,
    gate_bias: torch.Tensor | None,
    up_bias: torch.Tensor | None,
    down_bias: torch.Tensor | None,
) -> None:
    """Raises TypeError for wrong types and dtypes, ValueError for wrong shapes and devices.

    Expects x [..., K], gate_weight and up_weight [N, K], down_weight [D, N], biases [N], [N], [D].
    """
    _check_tensor("x", x)
    _check_tensor("gate_weight", gate_weight)
    if gate_weight.ndim != 2:
        raise ValueError(
            f"gate_weight has shape {_shape(gate_weight)}: expected [hidden_features, in_features]"
        )
    hidden, width = gate_weight.shape
    _check_like("up_weight", up_weight, "gate_weight", gate_weight)
    _check_like("down_weight", down_weight, "gate_weight", gate_weight)
    if up_weight.ndim != 2 or up_weight.shape[0] != hidden or up_weight.shape[1] != width:
        raise ValueError(f"up_weight has shape {_shape(up_weight)}: expected [{hidden}, {width}]")
    if down_weight.ndim != 2 or down_weight.shape[1] != hidden:
        raise ValueError(f"down_weight has shape {_shape(down_weight)}: expected [out_features, {hidden}]")
    # Weights that agree among themselves stay, and x comes anew with every call.
    _check_like("x", x, "gate_weight", gate_weight)
    if x.ndim < 1 or x.shape[-1] != width:
        raise ValueError(
            f"x has shape {_shape(x)}: expected [..., {width}], since gate_weight has [{hidden}, {width}]"
        )
    for name, bias, size in (
        ("gate_bias", gate_bias, hidden),
        ("up_bias", up_bias, hidden),
        ("down_bias", down_bias, down_weight.shape[0]),
    ):
        if bias is None:
            continue
        _check_like(name, bias, "gate_weight", gate_weight)
        if bias.ndim != 1 or bias.shape[0] != size:
            raise ValueError(f"{name} has shape {_shape(bias)}: expected [{size}]")


def _check_tensor(name: str, value: object) -> None:
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"{name} is {type(value).__name__}: expected a tensor")
    if value.dtype not in DTYPES:
        known = ", ".join(str(dtype).removeprefix("torch.") for dtype in DTYPES)
        raise TypeError(f"{name} is {str(value.dtype).removeprefix('torch.')}: expected one of {known}")


def _check_like(name: str, value: object, other_name: str, other: torch.Tensor) -> None:
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"{name} is {type(value).__name__}: expected a tensor")
    if value.dtype != other.dtype:
        raise TypeError(f"{name} is {value.dtype}: expected {other.dtype}, that of {other_name}")
    if value.device != other.device:
        raise ValueError(f"{name} is on {value.device}: expected {other.device}, where {other_name} is")


def _shape(tensor: torch.Tensor) -> list[int]:
    return list(tensor.shape)
