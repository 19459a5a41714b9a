"""Every spec that the rules can choose, for a dtype and activation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from rung.glu import few_rules, rules
from rung.glu.kernels import table
from rung.glu.kernels.launch import Kernel, Spec

DESCRIBED = "tensordesc<{dtype}[{block}]>"


def kind(dtype: torch.dtype, precision: str) -> rules.Kind:
    return "half" if dtype != torch.float32 else ("tf32" if precision == "tf32" else "ieee")


def gate_up(
    dtype: torch.dtype, tile: rules.Tile, *, width: int, save: bool = False, clear: bool = False,
    activation: str = "gelu_tanh", eager: bool = False, precision: str = "tf32",
) -> Spec:  # fmt: skip
    block = (tile.m, tile.n, tile.k, tile.stages, tile.group)
    constants = (clear, activation, eager, save, precision, width, *block, False)
    return Spec(dtype, width > 1, constants, tile.warps, tile.stages)


def tma(
    dtype: torch.dtype, tile: rules.Tile, *, save: bool = False, activation: str = "gelu_tanh"
) -> tuple[Spec, dict[str, str]]:
    name = {torch.bfloat16: "bf16", torch.float16: "fp16", torch.float32: "fp32"}[dtype]
    block = (tile.m, tile.n, tile.k, tile.stages, tile.group)
    width = 16 // dtype.itemsize
    spec = Spec(dtype, True, (activation, False, save, "tf32", width, *block), tile.warps, tile.stages)
    output = f"tensordesc<{name}[{tile.m}, {tile.n}]>"
    fixed = {
        "x": f"tensordesc<{name}[{tile.m}, {tile.k}]>",
        "weights": f"tensordesc<{name}[2, {tile.n}, {tile.k}]>",
        **dict.fromkeys(("hidden", "first", "second") if save else ("hidden",), output),
    }
    return spec, fixed


def one_row(dtype: torch.dtype, width: int) -> Iterator[tuple[str, Kernel, Spec, dict[str, Any]]]:
    """The two kernels for one row, with each strip."""
    for n, k, warps in {few_rules.gate_up_strip(depth) for depth in (1, 10_000)}:
        gate_up = Spec(dtype, width > 1, ("gelu_tanh", False, width, n, k, False), warps, 1)
        yield f"gate_up_row{n}-{width}", table.GATE_UP_ROW, gate_up, {}
    for n, k, warps in {few_rules.down_strip(columns, 1) for columns in (1, 1000)}:
        down = Spec(dtype, width > 1, (width, n, k, False), warps, 1)
        yield f"down_row{n}-{width}", table.DOWN_ROW, down, {}


def sixteen_rows(
    dtype: torch.dtype, width: int, precision: str
) -> Iterator[tuple[str, Kernel, Spec, dict[str, Any]]]:
    """The two kernels for up to 16 rows, with each tile."""
    which = kind(dtype, precision)
    for columns in (1, 1000):
        tile = few_rules.gate_up(which, 16, columns, 1, width)
        block = (precision, width, *tile[:3], tile.stages, False)
        spec = Spec(dtype, width > 1, ("gelu_tanh", False, *block), tile.warps, tile.stages)
        yield f"gate_up_sixteen{tile.n}-{width}", table.GATE_UP_SIXTEEN, spec, {"counters": "*i32"}
        tile = few_rules.down(which, 16, columns, 1, width)
        spec = Spec(
            dtype, width > 1, (precision, width, *tile[:3], tile.stages, False), tile.warps, tile.stages
        )
        yield (
            f"down_sixteen{tile.n}-{width}",
            table.DOWN_SIXTEEN,
            spec,
            {"counters": "*i32", "parts": "*fp32"},
        )


def every(dtype: torch.dtype, precision: str) -> Iterator[tuple[str, Kernel, Spec, dict[str, Any]]]:
    """(label, kernel, spec, fixed types) of each portable kernel, 16-byte rows and others."""
    which = kind(dtype, precision)
    for width in (16 // dtype.itemsize, 1):
        yield from sixteen_rows(dtype, width, precision)
        for rows in (64,):
            for tile in dict.fromkeys(
                few_rules.gate_up(which, rows, columns, 1, width) for columns in (1, 1000)
            ):
                few = gate_up(dtype, tile, width=width, clear=True, precision=precision)
                yield f"few{rows}x{tile.n}-{width}", table.GATE_UP, few, {"counters": "*i32"}
            for tile in dict.fromkeys(
                few_rules.down(which, rows, columns, 1, width) for columns in (1, 1000)
            ):
                constants = (precision, width, tile.m, tile.n, tile.k, tile.stages, False)
                down = Spec(dtype, width > 1, constants, tile.warps, tile.stages)
                fixed = {"counters": "*i32", "parts": "*fp32"}
                yield f"down{rows}x{tile.n}-{width}", table.DOWN, down, fixed
        yield from one_row(dtype, width)
        for tile in rules.portable(which, width):
            for save in (False, True):
                spec = gate_up(dtype, tile, width=width, save=save, precision=precision)
                yield f"portable{tile.m}-{width}-{save}", table.GATE_UP, spec, {}
        pointwise = Spec(dtype, width > 1, ("gelu_tanh", width, 1024), 4, 1)
        yield f"glu-{width}", table.GLU, pointwise, {}
        yield f"glu_backward-{width}", table.GLU_BACKWARD, pointwise, {}
