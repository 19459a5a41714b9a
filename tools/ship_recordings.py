"""Record what ships with the package: every rung and variant, on the CUDA device of this machine.

    python tools/ship_recordings.py h200 [--into src/rung/ladder/recordings]

Each scene is climbed in a process of its own, so that cold is cold. Traces only: tables stay behind.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
SCENES = (
    ("matmul-add", "--size", "64", "--no-warmup", "--variants", "eager"),
    ("matmul-add", "--size", "4096", "--no-warmup", "--variants", "eager"),
    ("matmul-add", "--variants", "eager,compiled"),
    ("linear",),
    ("mlp",),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collection", help="the device's short name, as --recorded takes it")
    parser.add_argument("--into", type=Path, default=ROOT / "src/rung/ladder/recordings")
    options = parser.parse_args()
    target = options.into.resolve() / options.collection
    with tempfile.TemporaryDirectory() as folder:
        for scene in SCENES:
            command = ["climb", *scene, "--device", "cuda", "--no-guess"]
            subprocess.run([sys.executable, "-m", "rung", *command], check=True, cwd=folder)
        shutil.rmtree(target, ignore_errors=True)
        traces = Path(folder, "traces")
        for trace in sorted(traces.glob("*/*.json.gz")):
            place = target / trace.relative_to(traces)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(trace, place)
            print(place, place.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
