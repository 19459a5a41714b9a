"""What explaining a big trace takes beside reading it.

    python benchmarks/why.py [--rounds 3] [--source TRACE ...]

Makes a trace of 0.3 GB of each source (`bigtrace.py`), reads it in a fresh process without the cache and asks
why, one after another in each round. Then the same of one region with 150,000 kernels, and how long it takes
to tell such a region from one whose first kernel has another name, and from a compiled one. Medians, in
`results/why.json`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import re
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


DIFF = """
import sys, time, resource, rung, rung.insight.diff
a, b = (rung.read(path, cache=False) for path in sys.argv[1:])
start = time.perf_counter()
found = rung.diff(a, b)
took, most = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(took, len(found.fused), most)
"""

KERNELS = 150_000
"""In one region."""


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


def told_apart(a: Path, b: Path, rounds: int) -> dict[str, float]:
    """Median seconds of a diff, the fusions it found, the most memory it held with both traces in it (MB)."""
    command = [sys.executable, "-c", DIFF, a, b]
    made = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(rounds)]
    seconds, fused, megabytes = (statistics.median(all_) for all_ in zip(*map(_floats, made), strict=True))
    return {"diff_s": round(seconds, 2), "fused": fused, "megabytes": round(megabytes)}


def _floats(text: str) -> list[float]:
    return [float(word) for word in text.split()]


def one_region(source: Path, path: Path) -> None:
    """A trace with so many kernels and nothing annotated, which is one region."""
    trace = json.loads(gzip.decompress(source.read_bytes()))
    annotations = ("user_annotation", "gpu_user_annotation")
    trace["traceEvents"] = [e for e in trace["traceEvents"] if e.get("cat") not in annotations]
    kernels = sum(e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset") for e in trace["traceEvents"])
    part = path.with_suffix(".part.json.gz")
    part.write_bytes(gzip.compress(json.dumps(trace).encode()))
    write(path, Copies(part), KERNELS // kernels)


def of_one_region(rounds: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="rung-why-") as folder:
        eager, other, compiled = (Path(folder) / f"{name}.json" for name in ("eager", "other", "compiled"))
        one_region(SHIPPED, eager)
        one_region(SHIPPED.with_name("compiled.json.gz"), compiled)
        text = eager.read_text()
        kernel = re.search(r'"cat": "kernel", "name": "', text)
        assert kernel is not None
        other.write_text(f"{text[: kernel.end()]}another {text[kernel.end() :]}")
        runs = [measured(eager) for _ in range(rounds)]
        return {
            **{key: round(statistics.median(run[key] for run in runs), 2) for key in runs[0]},
            "first_kernel_differs": told_apart(eager, other, rounds),
            "eager_against_compiled": told_apart(eager, compiled, rounds),
        }


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
        "one_region": of_one_region(wanted.rounds),
    }
    text = json.dumps(result, indent=2)
    (HERE / "results/why.json").write_text(f"{text}\n")
    print(text)


if __name__ == "__main__":
    main()
