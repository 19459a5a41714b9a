"""How fast and how small the reader is, beside the tools people use today.

    python benchmarks/reader.py [--rounds 3] [--folder DIR] [--source TRACE] [--huge] [--keep]

Makes a trace of 0.3 GB of a real one (`bigtrace.py`), plain and deflated, and reads it with each reader in a
fresh process, one after another in each round, no cache: to a linked, queryable trace (Rung), to
HolisticTraceAnalysis' parsed trace, to dicts (`json`, `orjson`). Seconds are those of the read alone, without
imports; memory is the peak of the process and of the largest one that it started, together (VmHWM, so it runs
on Linux: the getrusage of a child counts what its parent had before it). Then the cache, the cost of 10, 100
and 1000 thousand events, and with `--huge` 2 GB. Peers are installed into a virtual environment of their own
in the folder. Written to `results/reader.json`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import venv
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bigtrace import Copies, write

HERE = Path(__file__).parent
REAL = HERE.parents[1] / "shared/traces/public/hta/df_index_resolver/df_index_resolver.json.gz"
SHIPPED = HERE.parent / "src/rung/ladder/recordings/h200/mlp/eager.json.gz"
PEERS = ("HolisticTraceAnalysis==0.5.0", "orjson")
BIG, HUGE = 300_000_000, 2_000_000_000
"""Bytes of text."""

OPEN = "import gzip; data = (gzip.open if path.endswith('.gz') else open)(path, 'rb').read(); "
READERS = {
    "rung": ("import rung.trace", "rung.trace.read(path, cache=False)"),
    "rung, no stacks": ("import rung.trace", "rung.trace.read(path, cache=False, stacks=False)"),
    "rung, cached": ("import rung.trace, rung.trace.cache", "rung.trace.read(path)"),
    "rung, header": ("import rung.trace", "rung.trace.read_header(path)"),
    "hta": (
        "import logging; logging.disable(); from hta.trace_analysis import TraceAnalysis",
        "TraceAnalysis(trace_files={0: path}, trace_dir='')",
    ),
    "json": ("import json", f"{OPEN}json.loads(data)"),
    "orjson": ("import orjson", f"{OPEN}orjson.loads(data)"),
}
OURS = ("rung", "rung, no stacks", "rung, cached", "rung, header")
CHILD = """
import resource, sys, time
path = sys.argv[1]
{imports}
start = time.perf_counter()
{reads}
print("SECONDS", time.perf_counter() - start)
own = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print("PEAK", int(own) + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@dataclass(frozen=True, slots=True)
class Run:
    seconds: float
    peak_mb: float


def run(reader: str, path: Path, python: Path) -> Run:
    """Read a file in a fresh process."""
    imports, reads = READERS[reader]
    code = CHILD.format(imports=imports, reads="\n".join(part.strip() for part in reads.split(";")))
    child = subprocess.Popen(
        [sys.executable if reader in OURS else python, "-W", "ignore", "-c", code, path],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "RUNG_CACHE_DIR": str(path.parent / "cache")},
    )
    assert child.stdout is not None
    output = child.stdout.read()
    if child.wait():
        raise SystemExit(f"{reader} failed on {path}")
    _, seconds, _, peak_kib = output.split()[-4:]
    return Run(float(seconds), int(peak_kib) * 1024 / 1e6)


def peers(folder: Path) -> Path:
    """The interpreter of an environment that has the other readers."""
    home = folder / "peers"
    python = home / "bin/python"
    if not python.exists():
        venv.create(home, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS], check=True)
    return python


def compared(paths: list[Path], python: Path, rounds: int) -> dict[str, Any]:
    """Each file by each reader, round by round: medians, and how many times as much as Rung."""
    result = {}
    for path in paths:
        runs: dict[str, list[Run]] = {
            name: [] for name in ("rung", "rung, no stacks", "hta", "json", "orjson")
        }
        for _ in range(rounds):
            for name, found in runs.items():
                found.append(run(name, path, python))
        rung = _median(runs["rung"])
        result[path.name] = {name: _row(_median(found), rung) for name, found in runs.items()}
        print(f"\n{path.name}, {_text_mb(path):.0f} MB of text, {path.stat().st_size / 1e6:.0f} MB on disk")
        for name, row in result[path.name].items():
            print(
                "  {:16} {seconds:7.2f} s {peak_mb:7.0f} MB   {slower:5.1f}x {larger:5.1f}x".format(
                    name, **row
                )
            )
        print(f"  rung's peak is {rung.peak_mb / _text_mb(path):.2f} times the text")
        result[path.name]["text_mb"] = round(_text_mb(path))
    return result


def _row(one: Run, rung: Run) -> dict[str, float]:
    return {
        "seconds": round(one.seconds, 3),
        "peak_mb": round(one.peak_mb),
        "slower": round(one.seconds / rung.seconds, 2),
        "larger": round(one.peak_mb / rung.peak_mb, 2),
    }


def _median(runs: list[Run]) -> Run:
    return Run(statistics.median(r.seconds for r in runs), statistics.median(r.peak_mb for r in runs))


def _text_mb(path: Path) -> float:
    """Inflated MB: the plain file lies beside the deflated one."""
    return path.with_name(path.name.removesuffix(".gz")).stat().st_size / 1e6


def cached(paths: list[Path], python: Path, rounds: int) -> dict[str, Any]:
    """The second read, and the header alone, against the first read."""
    result = {}
    for path in paths:
        run("rung, cached", path, python)
        pairs = [(run("rung", path, python), run("rung, cached", path, python)) for _ in range(rounds)]
        ratio = statistics.median(first.seconds / second.seconds for first, second in pairs)
        second = statistics.median(second.seconds for _, second in pairs)
        header = run("rung, header", path, python).seconds
        result[path.name] = {
            "second_read_seconds": round(second, 3),
            "faster": round(ratio, 1),
            "header_seconds": round(header, 3),
        }
        print(f"{path.name}: second read {second:.3f} s, {ratio:.0f} times faster; header {header:.3f} s")
    return result


def slope(source: Path, folder: Path, python: Path, rounds: int) -> dict[str, Any]:
    """Seconds over events on logarithmic scales: 1 is linear."""
    copies = Copies(source, 10_000)
    counts = [copies.events * times for times in (1, 10, 100)]
    seconds = []
    for times in (1, 10, 100):
        path = folder / f"slope-{times}.json"
        write(path, copies, times)
        seconds.append(min(run("rung", path, python).seconds for _ in range(rounds)))
    x, y = [math.log(n) for n in counts], [math.log(s) for s in seconds]
    fitted = statistics.linear_regression(x, y).slope
    print(f"slope over {counts} events: {fitted:.2f} ({', '.join(f'{s:.3f} s' for s in seconds)})")
    return {"events": counts, "seconds": [round(s, 4) for s in seconds], "slope": round(fitted, 3)}


def huge(copies: Copies, folder: Path, python: Path) -> dict[str, Any]:
    """Rung alone on 2 GB."""
    result = {}
    for name in ("huge.json", "huge.json.gz"):
        path = folder / name
        write(path, copies, _times(copies, HUGE))
        found = run("rung", path, python)
        result[name] = {**asdict(found), "text_mb": round(_text_mb(path))}
        print(f"{name}: {_text_mb(path):.0f} MB of text in {found.seconds:.1f} s and {found.peak_mb:.0f} MB")
    return result


def _times(copies: Copies, size: int) -> int:
    return max(1, math.ceil(size / len(copies.copy(0))))


def facts(wanted: argparse.Namespace, python: Path) -> dict[str, Any]:
    """Where and of what the numbers come."""
    listed = subprocess.run([python, "-m", "pip", "list", "--format=json"], capture_output=True, check=True)
    versions = {p["name"]: p["version"] for p in json.loads(listed.stdout)}
    commit = ["git", "rev-parse", "--short", "HEAD"]
    return {
        "command": f"python benchmarks/reader.py --rounds {wanted.rounds}{' --huge' * wanted.huge}",
        "machine": f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "versions": {name: versions[name] for name in ("HolisticTraceAnalysis", "orjson", "pandas")},
        "commit": subprocess.run(
            commit, capture_output=True, text=True, cwd=HERE, check=False
        ).stdout.strip(),
        "source": wanted.source.name,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="for the big files; a temporary one if not given")
    parser.add_argument("--source", type=Path, default=REAL if REAL.exists() else SHIPPED)
    parser.add_argument("--huge", action="store_true", help="read 2 GB too")
    parser.add_argument("--keep", action="store_true", help="keep the big files")
    wanted = parser.parse_args()
    folder = wanted.folder or Path(tempfile.mkdtemp(prefix="rung-reader-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        measure(wanted, folder)
    finally:
        if not wanted.keep:
            for path in [*folder.glob("*.json"), *folder.glob("*.json.gz")]:
                path.unlink()
            shutil.rmtree(folder / "cache", ignore_errors=True)


def measure(wanted: argparse.Namespace, folder: Path) -> None:
    python, copies = peers(folder), Copies(wanted.source)
    paths = [folder / "big.json", folder / "big.json.gz"]
    for path in paths:
        write(path, copies, _times(copies, BIG))
    result = {
        **facts(wanted, python),
        "compared": compared(paths, python, wanted.rounds),
        "cache": cached(paths, python, wanted.rounds),
        "linear": slope(wanted.source, folder, python, wanted.rounds),
    }
    if wanted.huge:
        result["huge"] = huge(copies, folder, python)
    (HERE / "results").mkdir(exist_ok=True)
    (HERE / "results/reader.json").write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
