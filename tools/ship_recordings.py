"""Record what ships with the package: every rung and variant, on the CUDA device of this machine.

    python tools/ship_recordings.py h200 [--into src/rung/ladder/recordings] [--only mlp,mlp-train]

What is recorded cold is climbed in a process of its own, so that cold is cold; the rest shares one. A scene
is put in its place as soon as it is there, traces only: tables stay behind.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from contextlib import redirect_stdout
from pathlib import Path

ROOT = Path(__file__).parent.parent
COLD = {
    "matmul-add-64-cold": ["matmul-add", "--size", "64", "--no-warmup", "--variants", "eager"],
    "matmul-add-4096-cold": ["matmul-add", "--size", "4096", "--no-warmup", "--variants", "eager"],
    "mlp-recompile": ["mlp-recompile"],
}
WARM = {
    "matmul-add": ["matmul-add", "--variants", "eager,compiled"],
    "linear": ["linear"],
    "mlp": ["mlp"],
    "mlp-train": ["mlp", "--train"],
    "mlp-graph-break": ["mlp-graph-break"],
    "attention": ["attention"],
    "block": ["block"],
    "model-llama": ["model"],
}
TIMED = {
    "mlp/sweep.json": ["mlp", "--sweep", "batch=1,16,64,1024,8192"],
    "mlp/shapes.json": ["mlp", "--shapes", "64x128,64x100,3x77"],
}


# In a process that has run them before, kernels are compiled already.
ALONE = {*COLD, "mlp/shapes.json"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collection", help="the device's short name, as --recorded takes it")
    parser.add_argument("--into", type=Path, default=ROOT / "src/rung/ladder/recordings")
    parser.add_argument("--only", help="some of the scenes, with commas between them")
    parser.add_argument("--device", default="cuda", help="cpu, to try this tool out")
    options = parser.parse_args()
    target = options.into.resolve() / options.collection
    wanted = options.only.split(",") if options.only else [*COLD, *WARM, *TIMED]
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted:
            started = time.monotonic()
            scene = {**COLD, **WARM, **TIMED}[name]
            said = Path(folder, "said.json")
            climb = _alone if name in ALONE else _here
            code = climb([*scene, "--device", options.device], Path(folder), said)
            failed += [name] if code else []
            print(f"{name}: exit {code}, {time.monotonic() - started:.0f} s", flush=True)
            if name in TIMED and not code:
                _place_times(said, target / name)
            _place_traces(Path(folder, "traces"), target)
    if failed:
        sys.exit(f"not recorded: {', '.join(failed)}")


def _alone(scene: list[str], folder: Path, said: Path) -> int:
    command = [sys.executable, "-m", "rung", "climb", *scene, "--json"]
    with said.open("w") as output:
        return subprocess.run(command, check=False, cwd=folder, stdout=output).returncode


def _here(scene: list[str], folder: Path, said: Path) -> int:
    from rung.cli.app import run

    sys.argv = ["rung", "climb", *scene]  # a recording says how it was made
    with said.open("w") as output, redirect_stdout(output):
        try:
            return run(["climb", *scene, "--json", "--out", str(folder / "traces")])
        except Exception:
            traceback.print_exc()  # the other scenes are worth having all the same
            return 1


def _place_traces(traces: Path, target: Path) -> None:
    """Moves what was recorded to where it ships from; a scene replaces the one of its name."""
    for scene in sorted(traces.glob("*/")):
        place = target / scene.name
        place.mkdir(parents=True, exist_ok=True)
        for old in place.glob("*.json.gz"):
            old.unlink()
        for trace in sorted(scene.glob("*.json.gz")):
            shutil.copy(trace, place)
            print(f"  {scene.name}/{trace.name}: {trace.stat().st_size} bytes", flush=True)
        shutil.rmtree(scene)


def _place_times(said: Path, place: Path) -> None:
    found = json.loads(said.read_text())
    for told in ("schema_version", "answers"):  # said anew each time it is shown
        del found[told]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
