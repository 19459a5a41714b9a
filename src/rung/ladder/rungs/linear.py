"""A linear layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rung.ladder.values import Built, Parameters, Rung

if TYPE_CHECKING:
    import torch


def _build(parameters: Parameters, device: torch.device, dtype: torch.dtype) -> Built:
    import torch

    in_dim = parameters["in_dim"]
    linear = torch.nn.Linear(in_dim, parameters["out_dim"]).to(device, dtype)
    return Built(linear, (torch.randn(parameters["batch"], in_dim, device=device, dtype=dtype),))


LINEAR = Rung(
    name="linear",
    title="Linear layer",
    expression="x @ weight.t() + bias",
    region="linear_fwd",
    lesson=(
        "One kernel: on a GPU the bias rides in the GEMM's epilogue, and t() only rewrites shape and stride. "
        "There is nothing left to fuse; compiled, only the bookkeeping of views is gone from the CPU."
    ),
    train_lesson=(
        "Backward is two more products, one for x and one for the weight, and a sum over the batch for the "
        "bias, which no epilogue takes in."
    ),
    variants=("eager", "compiled"),
    gpu=({"batch": 1024, "in_dim": 32, "out_dim": 64},),
    cpu=({"batch": 1024, "in_dim": 32, "out_dim": 64},),
    build=_build,
)
