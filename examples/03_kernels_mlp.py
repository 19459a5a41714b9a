# /// script
# requires-python = ">=3.11"
# dependencies = ["rung[torch,hub,liger]"]
#
# [tool.uv.sources]
# rung = { path = "..", editable = true }
# ///
"""The GeGLU MLP with a hand-tuned kernel in place of gelu and mul, beside eager: no compiler, any shape.

LigerGEGLUMLP comes from the Hugging Face hub through the `kernels` library, or as installed. It is a Triton
kernel, so without a CUDA device only eager is recorded, and the script says why.

    uv run 03_kernels_mlp.py
    uv run 03_kernels_mlp.py --compile    with torch.compile's kernel as a third variant
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from rung.ladder.modules import GeGLUMLP
from rung.recording import Settings, Skipped, make_work, record_work


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
    mlp = GeGLUMLP(args.dim, args.hidden).to(device, torch.bfloat16)
    x = torch.randn(args.batch, args.seq, args.dim, device=device, dtype=torch.bfloat16)

    work = make_work(mlp, (x,), {}, name="03_kernels_mlp", region="mlp_fwd")
    variants = ["eager", "liger", *(["compiled"] if args.compile else [])]
    settings = Settings(warmup=args.warmup, cold=args.warmup == 0, out=Path("traces"), compress=False)
    for result in record_work(work, variants, settings):
        if isinstance(result, Skipped):
            print(f"{result.variant}: {result.reason}")
            continue
        print(result.path)
        print(result.table_path)
        error = result.metadata["against_eager"]
        if error:
            print(f"{result.variant}: at most {error['max_abs_error']:.2g} away from eager")


if __name__ == "__main__":
    main()
