"""`rung climb ceiling`: what it says, what it keeps, and who reads that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from rung.cli.app import run
from rung.recording import ceiling
from tracelib import annotation, op, write

pytestmark = pytest.mark.torch


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RUNG_NO_CACHE", "0")
    monkeypatch.setenv("RUNG_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(ceiling, "SIZES", {"cpu": (16,)})
    monkeypatch.setattr(ceiling, "COPY_BYTES", {"cpu": 4096})
    monkeypatch.setattr(ceiling, "_cpu_ns", lambda _device, _run: ceiling.CALLS * 1000)
    monkeypatch.setattr("rung.recording.machine._cpu_name", lambda: "Test CPU 9000")
    return tmp_path / "ceilings" / "test-cpu-9000.json"


def test_a_line_for_copies_and_each_dtype(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """8192 B and 8192 FLOP in 1 us."""
    assert run(["climb", "ceiling", "--device", "cpu", "--dtype", "bfloat16,tf32"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Test CPU 9000"
    assert lines[2].split() == ["copy", "8.19", "GB/s"]
    assert lines[3].split() == ["bf16", "8.19", "GFLOP/s", "1", "FLOP/B"]
    assert lines[4:] == [
        "tf32 left out: only CUDA devices multiply fp32 matrices in TF32",
        "no data sheet of it is listed",
        f"kept in {kept}",
    ]


def test_json_says_it_in_bytes_and_flop(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["climb", "ceiling", "--device", "cpu", "--dtype", "bf16", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["schema_version"], said["rung"], said["data_sheet"], said["skipped"]) == (
        1,
        "ceiling",
        None,
        {},
    )
    assert said["ceiling"]["flop_per_s"] == {"bf16": pytest.approx(8.192e9)}
    assert said["kept"] == str(kept)
    assert json.loads(kept.read_text()) == said["ceiling"]


def test_a_trace_of_this_device_is_read_by_it(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """gelu of 1024 floats: 8192 B, 1 us at the ceiling, takes 4."""
    args = {"Input Dims": [[1024]], "Input type": ["float"]}
    events = annotation("fwd", 0, 50), op("aten::gelu", 10, 4, **args)
    trace = write(tmp_path / "t.json", *events, device=None, rung={"device_name": "Test CPU 9000"})
    assert run(["read", str(trace)]) == 0
    assert "of ceiling" not in capsys.readouterr().out
    run(["climb", "ceiling", "--device", "cpu", "--dtype", "bf16"])
    capsys.readouterr()
    assert run(["read", str(trace)]) == 0
    listed = capsys.readouterr().out
    assert "of ceiling" in listed
    assert "25 %" in listed


def test_with_the_cache_turned_off_nothing_is_kept(
    kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RUNG_NO_CACHE", "1")
    assert run(["climb", "ceiling", "--device", "cpu", "--dtype", "bf16"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "not kept: the cache is turned off"
    assert not kept.exists()


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (["--dtype", "bf17"], 2, "there is no ceiling for 'bf17'"),
        (["--device", "tpu"], 2, "device 'tpu' is not known"),
        (["--batch", "3"], 2, "a size is about a workload; ceiling takes --device, --dtype and --json."),
        (["--train"], 2, "--train is about a workload"),
        (["--recorded", "h200"], 2, "--recorded is about a workload"),
        (["--compile-mode", "default"], 2, "--compile-mode is about a workload"),
    ],
)
def test_mistakes_are_one_line(
    more: list[str], code: int, said: str, kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["climb", "ceiling", *more]) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert said in shown.err
    assert shown.err.count("\n") == 1
