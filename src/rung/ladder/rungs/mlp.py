"""The GeGLU MLP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rung.ladder.values import Built, Parameters, Rung

if TYPE_CHECKING:
    import torch


def _build(parameters: Parameters, device: torch.device, dtype: torch.dtype) -> Built:
    import torch

    from rung.ladder.modules import GeGLUMLP

    dim = parameters["dim"]
    mlp = GeGLUMLP(dim, parameters["hidden"]).to(device, dtype)
    return Built(mlp, (torch.randn(parameters["batch"], parameters["seq"], dim, device=device, dtype=dtype),))


GPU = {"batch": 64, "seq": 128, "dim": 768, "hidden": 3072}
# Small enough that no tensor outgrows the allocator's reuse: at [512, 1024] a CPU's first touch of fresh
# pages costs eager four times the arithmetic, which is no lesson about fusion.
CPU = {"batch": 8, "seq": 32, "dim": 128, "hidden": 512}

MLP = Rung(
    name="mlp",
    title="GeGLU MLP",
    expression="down(gelu_tanh(gate(x)) * up(x))",
    region="mlp_fwd",
    lesson=(
        "Three GEMMs, and a gelu and a mul between them that fusion can make one kernel, or none: as the "
        "epilogue of the gate and up GEMM."
    ),
    train_lesson=(
        "Nine GEMMs: three forward, and for each of them two backward, one for its input and one for its "
        "weight. What is left to fuse is the GLU, once forward and once backward, a smaller share."
    ),
    about={
        "compiled": (
            "in the fused kernel's name triton_poi is pointwise (red: reduction, per: persistent reduction), "
            "cpp a loop on the CPU; then come the ops it merged and its number. It was made for this shape: "
            "another one compiles again"
        ),
        "liger": (
            "the same fusion with no compiler: no guards, no compile latency, one kernel for any shape; its "
            "calls go through autograd.Function and Triton's launcher, which the CPU pays for"
        ),
        "rung": (
            "gate and up are one kernel, with the GLU in its epilogue. Under a profiler the call goes by its "
            "registered operator, so that the trace has an op; without one the CPU pays less"
        ),
    },
    variants=("eager", "compiled", "liger", "rung"),
    gpu=(GPU,),
    cpu=(CPU,),
    build=_build,
    rows={"seq": 1},
)
