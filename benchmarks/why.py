"""What explaining a big trace takes beside reading it.

    python benchmarks/why.py [--rounds 3] [--source TRACE ...]

Makes a trace of 0.3 GB of each source (`bigtrace.py`), reads it in a fresh process without the cache and asks
why, one after another in each round. Medians, written to `results/why.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bigtrace import Copies, write
from reader import BIG, HERE, REAL, SHIPPED

CHILD = """
import sys, time, rung, rung.insight.why
start = time.perf_counter()
trace = rung.read(sys.argv[1], cache=False)
read = time.perf_counter()
found = rung.why(trace)
print(read - start, time.perf_counter() - read, trace.events, len(trace.kernels), len(found.findings))
"""


def measured(path: Path) -> dict[str, float]:
    made = subprocess.run([sys.executable, "-c", CHILD, path], capture_output=True, text=True, check=True)
    read, why, events, kernels, findings = map(float, made.stdout.split())
    return {"read_s": read, "why_s": why, "events": events, "kernels": kernels, "findings": findings}


def of_source(source: Path, rounds: int) -> dict[str, Any]:
    copies = Copies(source)
    with tempfile.TemporaryDirectory(prefix="rung-why-") as folder:
        path = Path(folder) / "big.json"
        write(path, copies, max(1, BIG // len(copies.copy(0))))
        runs = [measured(path) for _ in range(rounds)]
    medians = {key: round(statistics.median(run[key] for run in runs), 2) for key in runs[0]}
    return {"source": source.name, "megabytes": BIG // 10**6, **medians}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--source", type=Path, nargs="*", default=[p for p in (SHIPPED, REAL) if p.exists()])
    wanted = parser.parse_args()
    result = {
        "command": f"python benchmarks/why.py --rounds {wanted.rounds}",
        "machine": f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "sources": [of_source(source, wanted.rounds) for source in wanted.source],
    }
    text = json.dumps(result, indent=2)
    (HERE / "results/why.json").write_text(f"{text}\n")
    print(text)


if __name__ == "__main__":
    main()
