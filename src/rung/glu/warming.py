"""Compiling before the first call that matters."""

from __future__ import annotations

import torch

from rung.errors import MachineError
from rung.glu import few, few_rules, one_row, rules, training
from rung.glu.activations import Activation
from rung.glu.checks import check_choice
from rung.glu.devices import INTERPRETED, KERNEL_DTYPES, kind_of
from rung.glu.gate_up import Choice, best, plan
from rung.glu.operands import Operands, arrange
from rung.glu.pointwise import glu, glu_backward
from rung.glu.reference import Rounding

WIDE = 1 << 20
"""Columns enough for the wide tile of a small batch."""


def warm(dtype: torch.dtype, activation: Activation = "gelu_tanh", *, rounding: Rounding = "single") -> None:
    """Compiles every kernel that `glu` and `glu_mlp` can choose for this dtype and activation, forward and
    backward, on the current CUDA device: afterwards no shape compiles anything.

    Triton keeps binaries on disk, so the second process is quick.
    Raises TypeError for a dtype without kernels, MachineError without a CUDA device.
    """
    check_choice(activation, rounding)
    if dtype not in KERNEL_DTYPES:
        raise TypeError(f"dtype is {dtype!r}: expected one of {', '.join(map(str, KERNEL_DTYPES))}")
    if not (INTERPRETED or torch.cuda.is_available()):
        raise MachineError(
            "there are no kernels to warm without a CUDA device: the reference needs no warming"
        )
    device = torch.device("cpu" if INTERPRETED else "cuda")
    for size in (32, 33):  # 16-byte rows and others
        _warm_size(dtype, activation, rounding, device, size)


def _warm_size(
    dtype: torch.dtype, activation: Activation, rounding: Rounding, device: torch.device, size: int
) -> None:
    weights = torch.zeros(3, size, size, dtype=dtype, device=device)
    if size % 2:
        # Not three blocks of odd size: the second would start at an odd address.
        weights = torch.zeros(3, size, size + 1, dtype=dtype, device=device)[..., :size]
    pair = weights[0, :, :]
    glu(pair, pair, activation)
    glu_backward(pair, pair, pair, activation)
    for columns in (size, WIDE):
        x = torch.zeros(1, size, dtype=dtype, device=device)
        one_row.plan((x, *weights, None, None, None), activation, rounding, columns)
    for rows in (few_rules.SIXTEEN, few_rules.FEW_ROWS):
        x = torch.zeros(rows, size, dtype=dtype, device=device)
        few.plan((x, *weights, None, None, None), activation, rounding, WIDE)
        few.plan((x, *weights, None, None, None), activation, rounding)
    x = torch.zeros(few_rules.FEW_ROWS + 1, size, dtype=dtype, device=device)
    for save in (False, True):
        for choice in _choices(arrange(x, weights[0], weights[1], None, None), save):
            plan(x, weights[0], weights[1], None, None, activation, rounding, save, choice)
    training.prepare(x, weights[1], weights[2], activation)


def _choices(operands: Operands, save: bool) -> list[Choice]:
    """The best kernel for such operands with every tile; the portable one, which overlapping rows take."""
    kind = kind_of(operands.x.dtype)
    chosen = [
        (kernel, tile)
        for kernel in (best(operands)[0], "portable")
        for tile in rules.tiles(kernel, kind, operands.width, save)
    ]
    if save:
        few = few_rules.FEW_ROWS
        chosen += [
            ("portable", few_rules.gate_up(kind, few, columns, 1, operands.width)) for columns in (1, WIDE)
        ]
    return [Choice(kernel, tile, "being warmed") for kernel, tile in dict.fromkeys(chosen)]
