"""Matmul and add."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rung.ladder.values import Built, Parameters, Rung

if TYPE_CHECKING:
    import torch


def _build(parameters: Parameters, device: torch.device, dtype: torch.dtype) -> Built:
    import torch

    from rung.ladder.modules import matmul_add

    size = parameters["size"]
    return Built(matmul_add, tuple(torch.randn(size, size, device=device, dtype=dtype) for _ in "xwb"))


MATMUL_ADD = Rung(
    name="matmul-add",
    title="Matmul and add",
    expression="torch.add(torch.matmul(x, w), b)",
    region="matmul_add",
    lesson="Two ops, two launches. Small work waits for the CPU, big work keeps the GPU busy.",
    train_lesson=(
        "One product forward, two backward: the gradient of a product is a product with each of its inputs. "
        "That of the add is a pass-through for both."
    ),
    variants=("eager", "compiled"),
    gpu=({"size": 64}, {"size": 4096}),
    cpu=({"size": 64}, {"size": 1024}),
    build=_build,
    opens_cold=True,
)
