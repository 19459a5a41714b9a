"""Exchanging parts of a module for others that share its weights; the module itself stays as it was."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, get_args

from rung.recording.machine import require_torch

if TYPE_CHECKING:
    from rung.glu.activations import Activation

PROJECTIONS = ("gate_proj", "up_proj", "down_proj")

# One bf16 rounding is 2**-9; eager rounds three times on the way (3.5e-3 against fp64), a fused kernel once.
TOLERANCE = 2e-2

NO_MLP = f"only a GLU MLP with {', '.join(PROJECTIONS)} (nn.Linear), or a module with one, has this variant"

Replace = Callable[[Any], Any]
"""A module -> what takes its place, or None where it stays."""


def twin(module: Any) -> Any:
    """A copy of a module whose parameters and buffers are those of the original, not copies."""
    return copy.deepcopy(module, {id(t): t for t in [*module.parameters(), *module.buffers()]})


def swapped(module: Any, replace: Replace) -> tuple[Any, Counter[str]]:
    """A twin of `module` with its parts exchanged, the whole being one of them; and how many, by class."""
    made: Counter[str] = Counter()

    def exchange(part: Any) -> Any:
        new = replace(part)
        if new is not None:
            made[type(new).__name__] += 1
            return new
        for name, child in part.named_children():
            setattr(part, name, exchange(child))
        return part

    return exchange(twin(module)), made


def is_glu_mlp(module: Any) -> bool:
    """Whether a module has the three linears of a GLU MLP, by the names that checkpoints use."""
    linear = require_torch().nn.Linear
    return all(isinstance(getattr(module, name, None), linear) for name in PROJECTIONS)


def glu_mlps(module: Any) -> list[Any]:
    """The GLU MLPs in a module, itself among them."""
    return [part for part in module.modules() if is_glu_mlp(part)]


def with_linears_of(new: Any, old: Any) -> Any:
    """`new`, which came without memory, with the three linears of `old`."""
    for name in PROJECTIONS:
        setattr(new, name, getattr(old, name))
    return new.train(old.training)


def activation_of(mlp: Any) -> Activation | None:
    """Which of Rung's activations a GLU MLP's `act_fn` is, told by its values; tanh-GELU where it has none.

    None for any other function.
    """
    torch = require_torch()
    from rung.glu.activations import ACTIVATIONS, Activation

    own = getattr(mlp, "act_fn", None)
    if own is None:
        return "gelu_tanh"
    # Close enough to tell gelu from gelu_tanh: they are 5e-4 apart near 2.3.
    x = torch.linspace(-6, 6, 97, dtype=torch.float64)
    with torch.inference_mode():
        expected = own(x)
        found: list[Activation] = [
            name for name in get_args(Activation) if torch.allclose(expected, ACTIVATIONS[name](x), atol=1e-6)
        ]
    return found[0] if found else None
