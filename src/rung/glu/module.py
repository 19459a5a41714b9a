"""`GLUMLP`: the drop-in module."""

from __future__ import annotations

import torch
from torch import nn

from rung.glu.activations import Activation
from rung.glu.checks import check_choice
from rung.glu.functional import glu_mlp
from rung.glu.reference import Rounding


class GLUMLP(nn.Module):  # type: ignore[misc]
    """down_proj(act(gate_proj(x)) * up_proj(x)): x [..., in_features] -> [..., in_features].

    The three projections are `nn.Linear`, named as in Hugging Face checkpoints. `rounding` and `recompute`
    are those of `glu_mlp`. Forward hooks on the projections do not run: their weights go to one kernel.
    """

    def __init__(
        self,
        in_features: int,
        hidden_features: int,
        activation: Activation = "gelu_tanh",
        bias: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        *,
        rounding: Rounding = "single",
        recompute: bool = False,
    ) -> None:
        super().__init__()
        check_choice(activation, rounding)
        self.activation: Activation = activation
        self.rounding: Rounding = rounding
        self.recompute = recompute
        self.gate_proj = nn.Linear(in_features, hidden_features, bias, device, dtype)
        self.up_proj = nn.Linear(in_features, hidden_features, bias, device, dtype)
        self.down_proj = nn.Linear(hidden_features, in_features, bias, device, dtype)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """One forward; without gradients two kernels. See `glu_mlp`."""
        gate, up, down = self.gate_proj, self.up_proj, self.down_proj
        return glu_mlp(
            x,
            gate.weight,
            up.weight,
            down.weight,
            self.activation,
            gate.bias,
            up.bias,
            down.bias,
            rounding=self.rounding,
            recompute=self.recompute,
        )

    def pack(self) -> GLUMLP:
        """Lays the gate and up weights side by side in one buffer, for inference; returns self.

        Parameters stay the same objects with the same names, shapes and values. The TMA kernel reads both
        weights through one map and wants them less than a terabyte of addresses apart: packed they always
        are.
        """
        if not self.packed:
            both = torch.stack([self.gate_proj.weight.detach(), self.up_proj.weight.detach()])
            self.gate_proj.weight.data, self.up_proj.weight.data = both[0], both[1]
        return self

    def unpack(self) -> GLUMLP:
        """Gives each weight its own memory again; returns self."""
        if self.packed:
            for linear in (self.gate_proj, self.up_proj):
                linear.weight.data = linear.weight.detach().clone()
        return self

    @property
    def packed(self) -> bool:
        """Whether the two weights share one buffer."""
        gate, up = self.gate_proj.weight, self.up_proj.weight
        return bool(gate.untyped_storage().data_ptr() == up.untyped_storage().data_ptr() and gate.numel())

    def extra_repr(self) -> str:
        """The activation, and what is not as usual."""
        notes = [f"activation={self.activation!r}"]
        notes += [f"rounding={self.rounding!r}"] if self.rounding != "single" else []
        notes += ["recompute=True"] if self.recompute else []
        return ", ".join(notes)
