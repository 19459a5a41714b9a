"""Rung's MLP with the arguments in the order of `errorbudget.inputs`."""

from __future__ import annotations

from typing import Any

import rung.glu


def mlp(activation: str, x: Any, g: Any, u: Any, d: Any, bg: Any, bu: Any, bd: Any, **options: Any) -> Any:
    return rung.glu.glu_mlp(x, g, u, d, activation, bg, bu, bd, **options)  # type: ignore[arg-type]
