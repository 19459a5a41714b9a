"""What a compiled MLP stumbles over: new shapes, and a question only the data can answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rung.ladder.rungs import mlp
from rung.ladder.values import Built, Parameters, Rung

if TYPE_CHECKING:
    import torch

SHAPES = ((64, 128), (64, 100), (3, 77))
"""batch and seq of three calls: the second has another seq, the third another batch too."""


def _build_with_shapes(parameters: Parameters, device: torch.device, dtype: torch.dtype) -> Built:
    import torch

    from rung.ladder.modules import GeGLUMLP

    dim = parameters["dim"]
    module = GeGLUMLP(dim, parameters["hidden"]).to(device, dtype)
    first, *rest = ((torch.randn(*shape, dim, device=device, dtype=dtype),) for shape in SHAPES)
    return Built(module, first, tuple(rest))


def _build_checked(parameters: Parameters, device: torch.device, dtype: torch.dtype) -> Built:
    import torch

    from rung.ladder.modules import CheckedMLP

    dim = parameters["dim"]
    module = CheckedMLP(dim, parameters["hidden"]).to(device, dtype)
    return Built(
        module, (torch.randn(parameters["batch"], parameters["seq"], dim, device=device, dtype=dtype),)
    )


def _sizes(of: Parameters) -> Parameters:
    return {key: of[key] for key in ("dim", "hidden")}


RECOMPILE = Rung(
    name="mlp-recompile",
    title="GeGLU MLP, called with three shapes",
    expression=", then ".join(f"mlp(x [{batch}, {seq}, dim])" for batch, seq in SHAPES),
    region="mlp_fwd",
    lesson=(
        "A compiled function is compiled for the shapes it has seen. Each new one costs about a second, "
        "until every size that varies has been seen to vary; dynamic=True says so beforehand, for one "
        "compilation or two."
    ),
    variants=("eager", "compiled", "dynamic"),
    gpu=(_sizes(mlp.GPU),),
    cpu=(_sizes(mlp.CPU),),
    build=_build_with_shapes,
    # Once through the shapes compiles, once more runs what was compiled.
    first_calls=2 * len(SHAPES),
)

GRAPH_BREAK = Rung(
    name="mlp-graph-break",
    title="GeGLU MLP that looks at its numbers",
    expression="if not isfinite(hidden).all(): raise, between act(gate(x)) * up(x) and down",
    region="mlp_fwd",
    lesson=(
        "Python cannot decide an if before the GPU has the answer: each forward waits for it, and a compiler "
        "has to stop there. One question makes two compiled regions, and no graph holds both."
    ),
    variants=("eager", "compiled"),
    gpu=(mlp.GPU,),
    cpu=(mlp.CPU,),
    build=_build_checked,
)
