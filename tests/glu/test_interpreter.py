"""The kernels on the CPU: Triton reads TRITON_INTERPRET when a kernel is defined, so in a process of its
own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")
pytestmark = pytest.mark.torch

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", sorted(path.stem for path in (HERE / "interpreted").glob("test_*.py")))
def test_under_the_interpreter(name: str) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            str(HERE / f"interpreted/{name}.py"),
        ],
        cwd=HERE.parent.parent,
        env={**os.environ, "TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout
    assert "skipped" not in done.stdout
