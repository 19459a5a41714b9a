# /// script
# requires-python = ">=3.11"
# dependencies = ["rung[torch]"]
#
# [tool.uv.sources]
# rung = { path = "..", editable = true }
# ///
"""A matmul and an add: two ops, two launches.

uv run 01_matmul_add.py --size 64             the CPU launches slower than the GPU works
uv run 01_matmul_add.py --size 4096           the GPU is busy all the time
uv run 01_matmul_add.py --size 4096 --compile mm and add become one addmm
uv run 01_matmul_add.py --warmup 0            cold: the first step pays for all the set-up
"""

from __future__ import annotations

import argparse

import torch

from rung.recording import record


def matmul_add(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.add(torch.matmul(x, w), b)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--warmup", type=int, default=3)
    args = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    x, w, b = (torch.randn(args.size, args.size, device=device, dtype=torch.bfloat16) for _ in range(3))

    recording = record(
        matmul_add, x, w, b,
        variant="compiled" if args.compile else "eager",
        name="01_matmul_add",
        region="matmul_add",
        warmup=args.warmup,
        cold=args.warmup == 0,
        compress=False,
    )  # fmt: skip
    print(recording.path)
    print(recording.table_path)


if __name__ == "__main__":
    main()
