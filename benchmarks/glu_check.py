"""Is the fused MLP right, and what does it cost beside eager: a small table, each line's ratios from one run.

    python benchmarks/glu_check.py [--quick]

Per shape (bf16, gelu_tanh, no bias, no gradients): ‖error‖/‖reference‖ against fp64, and GPU time of the
gate-up kernel beside the two bare GEMMs and beside eager's gate, up, gelu, mul; of the whole forward beside
eager's. Small batches are timed as CUDA-graph replays; beside them the wall time of a call. Variants take
turns; medians. Written to `benchmarks/results/glu_check.json`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import triton
from torch.nn import functional

from rung.glu import backend, glu_mlp

HERE = Path(__file__).parent
SHAPES = [(1, 768, 3072), (64, 768, 3072), (512, 768, 3072), (2048, 768, 3072), (8192, 768, 3072),
          (4096, 2304, 9216), (8192, 4096, 14336), (1, 4096, 14336), (64, 4096, 14336)]  # fmt: skip
ROUNDS, CALLS = 15, 10


def draw(rows: int, width: int, hidden: int) -> list[torch.Tensor]:
    sizes = [(rows, width, 1.0), (hidden, width, width**-0.5), (hidden, width, width**-0.5)]
    sizes.append((width, hidden, hidden**-0.5))
    return [(torch.randn(a, b, device="cuda") * scale).bfloat16() for a, b, scale in sizes]


def eager(x: Any, g: Any, u: Any, d: Any) -> torch.Tensor:
    return functional.linear(eager_gate_up(x, g, u), d)


def eager_gate_up(x: Any, g: Any, u: Any) -> torch.Tensor:
    return functional.gelu(functional.linear(x, g), approximate="tanh") * functional.linear(x, u)


def bare(x: Any, g: Any, u: Any) -> None:
    functional.linear(x, g)
    functional.linear(x, u)


def fused_gate_up(x: Any, g: Any, u: Any) -> torch.Tensor:
    return torch.ops.rung.gate_up(x, g, u, None, None, "gelu_tanh", "single", False)[0]


def graphed(call: Callable[[], object]) -> Callable[[], None]:
    """CALLS calls as one graph, so that launches cost nothing."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(CALLS):
            call()
    return graph.replay


def times_us(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Median GPU microseconds a call; the variants take turns, right after a spin that hides the launch."""
    replays = {name: graphed(call) for name, call in calls.items()}
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, replay in replays.items():
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(2_000_000)
            start.record()
            replay()
            end.record()
            torch.cuda.synchronize()
            taken[name].append(start.elapsed_time(end) * 1e3 / CALLS)
    return {name: round(statistics.median(values), 2) for name, values in taken.items()}


def wall_us(call: Callable[[], object], calls: int = 300) -> float:
    """Wall microseconds a call, launches back to back: the CPU's where the GPU is quicker. Best of 5
    rounds."""
    best = float("inf")
    for _ in range(5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - start) / calls * 1e6)
    return round(best, 1)


def error(result: torch.Tensor, exact: torch.Tensor) -> float:
    return float(f"{((result.double() - exact).norm() / exact.norm()).item():.3g}")


def measure(shape: tuple[int, int, int]) -> dict[str, Any]:
    x, g, u, d = draw(*shape)
    some = x[:256]
    exact = glu_mlp(*(t.double() for t in (some, g, u, d)))
    path = backend(x, g, u, d)
    row: dict[str, Any] = {"shape": shape, "path": path.name, "tile": path.tile}
    row["error"] = {
        "eager": error(eager(some, g, u, d), exact),
        "rung": error(glu_mlp(x, g, u, d)[:256], exact),
    }
    row["us"] = times_us(
        {
            "bare": lambda: bare(x, g, u),
            "eager_gate_up": lambda: eager_gate_up(x, g, u),
            "rung_gate_up": lambda: fused_gate_up(x, g, u),
            "eager": lambda: eager(x, g, u, d),
            "rung": lambda: glu_mlp(x, g, u, d),
        }
    )
    if shape[0] * shape[1] * shape[2] < 1e10:
        row["wall_us"] = {
            "eager": wall_us(lambda: eager(x, g, u, d)),
            "rung": wall_us(lambda: glu_mlp(x, g, u, d)),
            "rung through its operator": wall_us(
                lambda: torch.ops.rung.glu_mlp(x, g, u, d, None, None, None, "gelu_tanh", "single")
            ),
        }
    us = row["us"]
    row["rung_gate_up / bare"] = round(us["rung_gate_up"] / us["bare"], 3)
    row["rung / eager"] = round(us["rung"] / us["eager"], 3)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the article's shape only")
    parser.add_argument("--commit", default="", help="the commit, where git cannot tell")
    options = parser.parse_args()
    torch.manual_seed(0)
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    result: dict[str, Any] = {
        "command": "python benchmarks/glu_check.py" + (" --quick" if options.quick else ""),
        "device": torch.cuda.get_device_name(),
        "versions": {"torch": torch.__version__, "triton": triton.__version__},
        "commit": options.commit or commit.stdout.strip(),
        "rows": [],
    }
    with torch.inference_mode():
        for shape in SHAPES[4:5] if options.quick else SHAPES:
            row = measure(shape)
            result["rows"].append(row)
            print(shape, row["path"], row["tile"], row["error"], row["us"], row.get("wall_us"), flush=True)
            print(
                f"   gate-up / bare {row['rung_gate_up / bare']}, rung / eager {row['rung / eager']}",
                flush=True,
            )
    target = HERE / "results/glu_check.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
