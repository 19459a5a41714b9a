"""`rung climb --sweep` and `--shapes`: measured here, or as shipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rung.cli.app import run

POINT = {"value", "variant", "wall_ns", "cpu_ns", "gpu_ns", "wall_range_ns", "gpu_range_ns"}
VISIT = {
    "variant", "shape", "first_ns", "compile_ns", "graphs", "recompiles", "breaks", "steady_ns",
}  # fmt: skip
TINY = ["--dim", "16", "--hidden", "32", "--device", "cpu", "--variants", "eager"]


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)


def climb(*arguments: str) -> int:
    return run(["climb", *arguments])


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert climb(*arguments, "--json") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["schema_version"] == 1
    return found


@pytest.mark.torch
def test_a_sweep_here(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    found = as_json(capsys, "mlp", "--sweep", "batch=1,2", *TINY)
    assert (found["rung"], found["parameter"], found["values"]) == ("mlp", "batch", [1, 2])
    assert all(set(point) == POINT and point["gpu_ns"] is None for point in found["points"])
    assert found["answers"][0] == "Fastest by the clock: eager at batch 1 and 2."
    assert not Path("traces").exists()


@pytest.mark.torch
def test_a_sweep_of_another_rung_in_a_terminal_and_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    sizes = ["--size", "8", "--device", "cpu", "--variants", "eager"]
    assert climb("matmul-add", "--sweep", "size=4,8", "--svg", "sweep.svg", *sizes) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "Matmul and add   torch.add(torch.matmul(x, w), b)"
    assert "Fastest by the clock: eager at size 4 and 8." in lines
    bars = [line for line in lines if "█" in line]
    assert [line.split()[:2] for line in bars] == [["4", "eager"], ["8", "eager"]]
    assert {line.count("█") for line in bars} == {32}
    assert Path("sweep.svg").read_text().startswith("<svg ")


@pytest.mark.parametrize(("columns", "longest"), [(100, 32), (80, 19), (60, 0)])
def test_bars_are_as_long_as_the_terminal_lets_them(
    columns: int, longest: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The numbers beside them take 61 columns; at each batch one variant is the slowest."""
    monkeypatch.setenv("COLUMNS", str(columns))
    assert climb("mlp", "--sweep", "batch=1,16,64,1024,8192", "--recorded", "h200") == 0
    said = capsys.readouterr().out
    bars = [
        line.count("█") + line.count("░") for line in said.splitlines() if "x  " in line or " eager " in line
    ]
    assert bars.count(longest) >= 5
    assert max(bars) == longest
    assert "…" not in said
    assert ("each batch to its own scale" in said) == (longest > 0)


@pytest.mark.torch
def test_shapes_here(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    found = as_json(capsys, "mlp", "--shapes", "4x3,2x5", *TINY)
    assert [(visit["variant"], visit["shape"]) for visit in found["visits"]] == [
        ("eager", [4, 3]),
        ("eager", [2, 5]),
    ]
    assert all(set(visit) == VISIT and visit["first_ns"] > 0 for visit in found["visits"])
    assert climb("mlp", "--shapes", "4x3,2x5", *TINY) == 0
    said = capsys.readouterr().out
    assert "eager: 2 shapes cost " in said
    assert "4 x 3" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sweep", "batch=1", "--shapes", "1x2"], "two questions: give one of them"),
        (["--sweep", "batch"], "give one parameter, as batch=1,16,64"),
        (["--shapes", "64"], "give batch x seq, as 64x128"),
        (["--svg", "x.svg"], "--svg draws a sweep: give --sweep too"),
        (["--sweep", "batch=1", "--guess", "kernels=5"], "--guess is about a recording"),
        (["--sweep", "batch=1", "--no-warmup"], "--warmup is about a recording"),
        (["--sweep", "batch=1", "--variants", "fast"], "mlp has no variant 'fast'"),
        (["--sweep", "batch=1", "--recorded", "h100"], "there are no recordings 'h100'"),
        (["--sweep", "batch=1", "--recorded", "h200", "--dtype", "float32"], "--dtype says how to record"),
        (["--sweep", "batch=1", "--recorded", "h200", "--dim", "8"], "for others leave --recorded out"),
        (["--sweep", "batch=3", "--recorded", "h200"], "mlp was swept over batch=1,16,64,1024,8192"),
        (
            ["--shapes", "3x77,64x128", "--recorded", "h200"],
            "met the shapes 64x128,64x100,3x77, in this order",
        ),
        (["--sweep", "batch=1", "--recorded", "h200", "--train"], "there is no sweep of mlp-train in h200"),
    ],
)
def test_what_is_refused_in_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert climb("mlp", *arguments) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_a_drawing_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert climb("mlp", "--sweep", "batch=1", "--recorded", "h200", "--svg", "no/such/folder.svg") == 2
    assert "cannot write no/such/folder.svg: No such file or directory" in capsys.readouterr().err
