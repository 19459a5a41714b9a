"""The examples run as a reader would run them, at sizes that take a moment on a CPU."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.torch

EXAMPLES = Path(__file__).parent.parent / "examples"
MLP = ["--batch", "2", "--seq", "4", "--dim", "16", "--hidden", "32"]


def run(folder: Path, script: str, *arguments: str) -> str:
    # No device and no network: the same run on every machine.
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "CUDA_VISIBLE_DEVICES": "",
        "HF_HUB_OFFLINE": "1",
    }
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / script), *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def regions(path: Path, name: str) -> list[dict[str, Any]]:
    return [event for event in json.loads(path.read_text())["traceEvents"] if event.get("name") == name]


@pytest.mark.parametrize(
    ("script", "arguments", "trace", "region"),
    [
        ("01_matmul_add.py", ["--size", "8"], "01_matmul_add/eager", "matmul_add"),
        ("01_matmul_add.py", ["--size", "8", "--warmup", "0"], "01_matmul_add/eager", "matmul_add"),
        ("02_linear.py", ["--batch", "8", "--compile"], "02_linear/compiled", "linear_fwd"),
        ("03_simple_mlp.py", MLP, "03_simple_mlp/eager", "mlp_fwd"),
        ("03_simple_mlp.py", [*MLP, "--compile"], "03_simple_mlp/compiled", "mlp_fwd"),
        ("03_kernels_mlp.py", MLP, "03_kernels_mlp/eager", "mlp_fwd"),
    ],
)
def test_example(tmp_path: Path, script: str, arguments: list[str], trace: str, region: str) -> None:
    said = run(tmp_path, script, *arguments)
    assert f"traces/{trace}.json\ntraces/{trace}.txt\n" in said
    assert len(regions(tmp_path / f"traces/{trace}.json", region)) == 3
    assert region in (tmp_path / f"traces/{trace}.txt").read_text()


def test_linear_shows_that_t_moves_no_byte(tmp_path: Path) -> None:
    said = run(tmp_path, "02_linear.py", "--batch", "8")
    assert "weight      (64, 32) stride (32, 1)" in said
    assert "weight.t()  (32, 64) stride (1, 32)" in said
    assert "same memory True" in said


def test_kernels_example_says_why_there_is_no_liger(tmp_path: Path) -> None:
    assert "liger: Liger's kernels are Triton kernels" in run(tmp_path, "03_kernels_mlp.py", *MLP)


@pytest.mark.parametrize("script", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_header_is_pep_723_and_points_at_the_checkout(script: str) -> None:
    text = (EXAMPLES / script).read_text()
    block = re.search(r"^# /// script\n((?:#.*\n)+?)# ///$", text, re.MULTILINE)
    assert block is not None
    header = tomllib.loads("".join(line[2:] or "\n" for line in block[1].splitlines(keepends=True)))
    assert header["tool"]["uv"]["sources"]["rung"] == {"path": "..", "editable": True}
    assert header["dependencies"][0].startswith("rung[torch")
    assert len(text.splitlines()) < 80
