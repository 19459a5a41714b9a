"""The fused GLU MLP, `down(act(gate(x)) * up(x))`: kernels, drop-in functions and a module.

Needs torch, and triton for the kernels; nothing else of Rung. Where there is no kernel the reference runs.
"""

from __future__ import annotations

from contextlib import suppress

try:
    import torch
except ModuleNotFoundError as missing:
    message = f'rung.glu needs torch ({missing}); install it with: pip install "rung[torch]"'
    raise ModuleNotFoundError(message, name=missing.name) from None

from rung.glu import hopper
from rung.glu.activations import ACTIVATIONS, Activation
from rung.glu.backends import Backend, backend
from rung.glu.devices import HAS_TRITON
from rung.glu.functional import glu, glu_mlp
from rung.glu.module import GLUMLP
from rung.glu.reference import Rounding
from rung.glu.tuning import tune
from rung.glu.warming import warm

__all__ = [
    "ACTIVATIONS",
    "GLUMLP",
    "Activation",
    "Backend",
    "Rounding",
    "backend",
    "glu",
    "glu_mlp",
    "tune",
    "warm",
]

if HAS_TRITON and torch.version.cuda is not None:
    # 0.3 s, where everyone expects an import's time to go rather than in the first call.
    with suppress(ImportError):
        import triton

        if triton.__version__.startswith(hopper.KNOWN):
            import triton.experimental.gluon.nvidia.hopper
