# /// script
# requires-python = ">=3.11"
# dependencies = ["rung[torch]"]
#
# [tool.uv.sources]
# rung = { path = "..", editable = true }
# ///
"""A GeGLU MLP: how many kernels does one forward run, and how many of them are GEMMs?

uv run 03_simple_mlp.py
uv run 03_simple_mlp.py --compile     gelu and mul become one kernel
uv run 03_simple_mlp.py --batch 1 --seq 1 --compile
"""

from __future__ import annotations

import argparse

import torch
from torch import nn
from torch.nn import functional

from rung.recording import record


class SimpleMLP(nn.Module):
    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(dim, hidden, bias=False)
        self.up_proj = nn.Linear(dim, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, dim, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate = self.gate_proj(x)
        up = self.up_proj(x)
        return self.down_proj(functional.gelu(gate, approximate="tanh") * up)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seq", type=int, default=128)
    parser.add_argument("--dim", type=int, default=768)
    parser.add_argument("--hidden", type=int, default=3072)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--warmup", type=int, default=3)
    args = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    mlp = SimpleMLP(args.dim, args.hidden).to(device, torch.bfloat16)
    x = torch.randn(args.batch, args.seq, args.dim, device=device, dtype=torch.bfloat16)

    recording = record(
        mlp, x,
        variant="compiled" if args.compile else "eager",
        name="03_simple_mlp",
        region="mlp_fwd",
        warmup=args.warmup,
        cold=args.warmup == 0,
        compress=False,
    )  # fmt: skip
    print(recording.path)
    print(recording.table_path)


if __name__ == "__main__":
    main()
