"""Every kernel once, small, for a memory or race checker:

PYTORCH_NO_CUDA_MEMORY_CACHING=1 compute-sanitizer --tool memcheck python tests/glu/every_kernel.py
PYTORCH_NO_CUDA_MEMORY_CACHING=1 compute-sanitizer --tool racecheck python tests/glu/every_kernel.py
"""

from __future__ import annotations

import torch

from rung.glu import GLUMLP, backend, rules, warm


def main() -> None:
    rules.FULL = 0  # a few tiles are enough for backward through gate and up in one product
    for dtype in (torch.bfloat16, torch.float32):
        warm(dtype, "silu")
        for rows, width, hidden in [
            (1, 24, 40),
            (1, 33, 37),
            (3, 33, 1037),
            (9, 72, 1100),
            (30, 33, 1037),
            (40, 72, 1100),
            (70, 33, 37),
            (130, 72, 200),
            (70, 4104, 40),
        ]:
            module = GLUMLP(width, hidden, "silu", bias=True, device="cuda", dtype=dtype)
            x = torch.randn(rows, width, device="cuda", dtype=dtype)
            with torch.no_grad():
                module(x)
            module(x).float().square().sum().backward()
            weights = (module.gate_proj.weight, module.up_proj.weight, module.down_proj.weight)
            print(dtype, (rows, width, hidden), backend(x, *weights).name, flush=True)
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
