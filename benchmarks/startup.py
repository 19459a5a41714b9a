"""How long the command takes to answer: `rung --help`, `rung read` and `rung guess` of a trace of a few KB.

    python benchmarks/startup.py [--runs 15]

Wall time of fresh processes, median and range, written to `benchmarks/results/startup.json`.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
TRACE = HERE.parent / "src/rung/ladder/recordings/h200/mlp/eager.json.gz"
LIMITS_S = {"help": 0.2, "read": 0.5, "guess": 0.5}
COMMANDS = {
    "help": ["--help"],
    "read": ["read", str(TRACE)],
    "guess": ["guess", str(TRACE), "-e", "kernels=5"],
}


def wall_s(arguments: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "rung", *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    for arguments in COMMANDS.values():
        wall_s(arguments)  # the first run compiles .pyc files
    rounds = [{name: wall_s(arguments) for name, arguments in COMMANDS.items()} for _ in range(runs)]
    result = {
        "command": " ".join(["python benchmarks/startup.py", "--runs", str(runs)]),
        "machine": f"{platform.processor() or platform.machine()}, Python {platform.python_version()}",
        "commit": subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=HERE, check=False
        ).stdout.strip(),
        "trace_bytes": TRACE.stat().st_size,
        "seconds": {},
    }
    for name, limit in LIMITS_S.items():
        taken = sorted(one[name] for one in rounds)
        median = statistics.median(taken)
        result["seconds"][name] = {
            "median": round(median, 3),
            "low": round(taken[0], 3),
            "high": round(taken[-1], 3),
        }
        print(f"{name:6} {median:.3f} s ({taken[0]:.3f} - {taken[-1]:.3f}), at most {limit} s")
    (HERE / "results").mkdir(exist_ok=True)
    (HERE / "results/startup.json").write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
