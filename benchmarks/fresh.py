"""A process of its own: what the first calls take, one after another, in seconds, printed as JSON.

    python benchmarks/fresh.py {rung,compile} WIDTH HIDDEN ROWS,ROWS,...

Imports, the CUDA context and the inputs are there before the clock starts; cuBLAS, compilers and caches are
not.
"""

from __future__ import annotations

import json
import os
import sys
import time

import torch
from peers import MLPS, compiled, draw, eager, plain


def main() -> None:
    name, width, hidden, listed = sys.argv[1:5]
    rows = [int(number) for number in listed.split(",")]
    inputs = draw(max(rows), int(width), int(hidden), seed=0)
    # torch.compile as it comes: it turns to dynamic shapes by itself.
    peer = plain(compiled(eager, dynamic=None)) if name == "compile" else MLPS[name]()
    taken = []
    with torch.inference_mode():
        for number in rows:
            one = inputs._replace(x=inputs.x[:number])
            torch.cuda.synchronize()
            start = time.perf_counter()
            peer(one).forward()
            torch.cuda.synchronize()
            taken.append(time.perf_counter() - start)
    print(json.dumps(taken), flush=True)
    os._exit(0)  # Inductor's pool of compilers takes 9 s to leave


if __name__ == "__main__":
    main()
