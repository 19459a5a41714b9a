"""The three rungs of the article."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rung.errors import UsageError
from rung.ladder.values import Parameters, Rung

if TYPE_CHECKING:
    import torch


def _build_matmul_add(parameters: Parameters, device: torch.device, dtype: torch.dtype) -> Any:
    import torch

    from rung.ladder.modules import matmul_add

    size = parameters["size"]
    return matmul_add, tuple(torch.randn(size, size, device=device, dtype=dtype) for _ in "xwb")


def _build_linear(parameters: Parameters, device: torch.device, dtype: torch.dtype) -> Any:
    import torch

    in_dim = parameters["in_dim"]
    linear = torch.nn.Linear(in_dim, parameters["out_dim"]).to(device, dtype)
    return linear, (torch.randn(parameters["batch"], in_dim, device=device, dtype=dtype),)


def _build_mlp(parameters: Parameters, device: torch.device, dtype: torch.dtype) -> Any:
    import torch

    from rung.ladder.modules import GeGLUMLP

    dim = parameters["dim"]
    mlp = GeGLUMLP(dim, parameters["hidden"]).to(device, dtype)
    return mlp, (torch.randn(parameters["batch"], parameters["seq"], dim, device=device, dtype=dtype),)


MATMUL_ADD = Rung(
    name="matmul-add",
    title="Matmul and add",
    expression="torch.add(torch.matmul(x, w), b)",
    region="matmul_add",
    lesson="Two ops, two launches. Small work waits for the CPU, big work keeps the GPU busy.",
    kernels={"eager": 2, "compiled": 1},
    gpu=({"size": 64}, {"size": 4096}),
    cpu=({"size": 64}, {"size": 1024}),
    build=_build_matmul_add,
    opens_cold=True,
)

LINEAR = Rung(
    name="linear",
    title="Linear layer",
    expression="x @ weight.t() + bias",
    region="linear_fwd",
    lesson=(
        "One kernel: on a GPU the bias rides in the GEMM's epilogue, and t() only rewrites shape and stride. "
        "There is nothing left to fuse; compiled, only the bookkeeping of views is gone from the CPU."
    ),
    kernels={"eager": 1, "compiled": 1},
    gpu=({"batch": 1024, "in_dim": 32, "out_dim": 64},),
    cpu=({"batch": 1024, "in_dim": 32, "out_dim": 64},),
    build=_build_linear,
)

MLP = Rung(
    name="mlp",
    title="GeGLU MLP",
    expression="down(gelu_tanh(gate(x)) * up(x))",
    region="mlp_fwd",
    lesson=(
        "Three GEMMs, and a gelu and a mul between them that fusion can make one kernel, or none: as the "
        "epilogue of the gate and up GEMM."
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
    kernels={"eager": 5, "compiled": 4, "liger": 4, "rung": 2},
    gpu=({"batch": 64, "seq": 128, "dim": 768, "hidden": 3072},),
    # Small enough that no tensor outgrows the allocator's reuse: at [512, 1024] a CPU's first touch of fresh
    # pages costs eager four times the arithmetic, which is no lesson about fusion.
    cpu=({"batch": 8, "seq": 32, "dim": 128, "hidden": 512},),
    build=_build_mlp,
)

LADDER: dict[str, Rung] = {rung.name: rung for rung in (MATMUL_ADD, LINEAR, MLP)}


def get_rung(name: str) -> Rung:
    """The rung called `name`. Raises UsageError, naming those there are, for any other."""
    if name not in LADDER:
        raise UsageError(f"there is no rung {name!r}: give {', '.join(LADDER)}")
    return LADDER[name]
