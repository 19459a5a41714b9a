# /// script
# requires-python = ">=3.11"
# dependencies = ["rung[torch]"]
#
# [tool.uv.sources]
# rung = { path = "..", editable = true }
# ///
"""One nn.Linear: is the bias a kernel of its own? Does the transposed weight cost a copy?

uv run 02_linear.py
uv run 02_linear.py --compile
"""

from __future__ import annotations

import argparse

import torch
from torch import nn

from rung.recording import record


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--in_dim", type=int, default=32)
    parser.add_argument("--out_dim", type=int, default=64)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--warmup", type=int, default=3)
    args = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    linear = nn.Linear(args.in_dim, args.out_dim).to(device, torch.bfloat16)
    x = torch.randn(args.batch, args.in_dim, device=device, dtype=torch.bfloat16)

    # nn.Linear computes x @ weight.t() + bias; t() hands out the same memory under another shape and stride.
    weight, transposed = linear.weight, linear.weight.t()
    print(f"weight      {tuple(weight.shape)} stride {weight.stride()}")
    print(f"weight.t()  {tuple(transposed.shape)} stride {transposed.stride()}")
    print(f"same memory {weight.data_ptr() == transposed.data_ptr()}")

    recording = record(
        linear, x,
        variant="compiled" if args.compile else "eager",
        name="02_linear",
        region="linear_fwd",
        warmup=args.warmup,
        cold=args.warmup == 0,
        compress=False,
    )  # fmt: skip
    print(recording.path)
    print(recording.table_path)


if __name__ == "__main__":
    main()
