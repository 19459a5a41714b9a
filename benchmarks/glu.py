"""The fused GLU MLP beside what else one can run, row by row, each held against its target.

    python benchmarks/glu.py [--rows 'forward-*,wall-1'] [--quick] [--time-limit 230] [--out FILE] [--list]

bf16, gelu_tanh, no biases, separate weights, through the public functions; `regimes.py` says what is timed
and how, `rows.py` what, `targets.py` against what. Peers (`peers.py`): eager, torch.compile in three modes,
liger-kernel and quack where installed, cuBLAS alone. A run of all rows is written to
`benchmarks/results/glu.json`.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import shlex
import subprocess
import sys
import time
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import torch
import triton
from regimes import QUICK, Effort
from rows import ROWS, Row
from targets import TARGETS, lines

RESULTS = Path(__file__).parent / "results/glu.json"


def main() -> None:
    """Measures the rows asked for; exit code 1 if one of them failed."""
    wanted = _arguments()
    rows = [row for row in ROWS if any(fnmatch(row.name, pattern) for pattern in wanted.rows.split(","))]
    if wanted.list or not rows:
        raise SystemExit("\n".join(row.name for row in ROWS))
    torch.manual_seed(0)
    result = facts()
    out = wanted.out or (RESULTS if rows == ROWS and not wanted.quick else None)
    start = time.perf_counter()
    # Not the default stream: what is captured into a graph must not run there.
    with torch.cuda.stream(torch.cuda.Stream()):
        for row in rows:
            spent = time.perf_counter() - start
            result["rows"][row.name] = (
                measured(row, QUICK if wanted.quick else Effort())
                if spent < wanted.time_limit
                else {"left out": f"{spent:.0f} s had passed"}
            )
            result["seconds"] = round(time.perf_counter() - start, 1)
            if out:
                out.parent.mkdir(exist_ok=True, parents=True)
                out.write_text(json.dumps(result, indent=1) + "\n")
    summary(result["rows"])
    raise SystemExit(any("failed" in row for row in result["rows"].values()))


def measured(row: Row, effort: Effort) -> dict[str, Any]:
    """A row's values by contender and measure, or why there are none."""
    start = time.perf_counter()
    try:
        values = row.measure(effort)
    except Exception as error:
        print(f"{row.name} failed: {type(error).__name__}: {error}", flush=True)
        return {"failed": f"{type(error).__name__}: {error}"}
    torch.cuda.empty_cache()
    seconds = time.perf_counter() - start
    print(f"{row.name} ({seconds:.0f} s)", flush=True)
    for measure in dict.fromkeys(measure for found in values.values() for measure in found):
        line = (f"{name} {found[measure]:.4g}" for name, found in values.items() if measure in found)
        print(f"   {measure:8} {' | '.join(line)}", flush=True)
    rounded = {name: {m: float(f"{v:.5g}") for m, v in found.items()} for name, found in values.items()}
    return {"values": rounded, "seconds": round(seconds, 1)}


def summary(rows: dict[str, Any]) -> None:
    """One line a target."""
    print()
    for target in TARGETS:
        for line in lines(target, rows.get(target.row, {}).get("values", {})):
            print(line)


def facts() -> dict[str, Any]:
    """Where the numbers come from."""
    found: dict[str, str] = {"python": platform.python_version(), "cuda": str(torch.version.cuda)}
    found |= {"torch": torch.__version__, "triton": triton.__version__}
    for name in ("liger-kernel", "quack-kernels"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return {
        "command": _command(sys.argv[1:]),
        "device": torch.cuda.get_device_name(),
        "cpu": _cpu(),
        "versions": found,
        "commit": os.environ.get("COMMIT") or _commit(),
        "unit": "microseconds, unless a measure names another; error: of the norm, against fp64",
        "rows": {},
    }


def _command(arguments: list[str]) -> str:
    """What measures this again; where the file went is nobody else's."""
    where = argparse.ArgumentParser(add_help=False)
    where.add_argument("--out")
    return shlex.join(["python", "benchmarks/glu.py", *where.parse_known_args(arguments)[1]])


def _commit() -> str:
    asked = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


def _cpu() -> str:
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    models = [line.split(":")[1].strip() for line in text.splitlines() if line.startswith("model name")]
    return f"{models[0] if models else platform.machine()}, {os.cpu_count()} cores"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default="*", help="which rows, as patterns between commas")
    parser.add_argument("--list", action="store_true", help="name the rows")
    parser.add_argument("--quick", action="store_true", help="a third of the rounds")
    parser.add_argument("--time-limit", type=float, default=float("inf"), help="start no row after seconds")
    parser.add_argument("--out", type=Path, help="where the numbers go as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    main()
