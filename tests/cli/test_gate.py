"""`rung diff` with a gate: exit codes, JSON, annotations, summary."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rung.cli.app import run
from tracelib import annotation, kernel, launch, write


@pytest.fixture
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """NEW runs one kernel more than BASE."""
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    base = [annotation("fwd", 0, 50), launch(10, 5, correlation=1), kernel("nvjet_a", 20, 10, correlation=1)]
    more = [launch(16, 2, correlation=2), kernel("toy", 31, 5, correlation=2)]
    paths = write(tmp_path / "base.json", *base), write(tmp_path / "new.json", *base, *more)
    return str(paths[0]), str(paths[1])


def test_a_gate_that_holds_exits_with_0(traces: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diff", *traces, "-e", "kernels <= +1", "-e", "same:gemm"]) == 0
    assert capsys.readouterr().out.endswith("The gate holds.\n")


def test_a_gate_that_does_not_hold_exits_with_1_and_says_why(
    traces: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["diff", *traces, "-e", "kernels <= +0"]) == 1
    *_, line, conclusion = capsys.readouterr().out.splitlines()
    assert line == "fwd: kernels <= +0   1   2   +1   no   new: toy"
    assert conclusion == "The gate does not hold."


def test_without_a_gate_a_difference_is_no_failure(traces: tuple[str, str]) -> None:
    assert run(["diff", *traces]) == 0


def test_json_has_the_gate(traces: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diff", *traces, "-e", "kernels <= +0", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["schema_version"] == 1
    assert found["per_region"]["kernels"] == [1, 2]
    assert found["gate"] == {
        "held": False,
        "reason": None,
        "notes": [],
        "checks": [
            {
                "region": "fwd",
                "key": "kernels",
                "want": "<= +0",
                "base": 1,
                "new": 2,
                "held": False,
                "reason": None,
            }
        ],
    }


def test_a_gate_file_annotates_its_line_and_fills_the_summary(
    traces: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gate.toml").write_text("[fwd]\nkernels = '<= +0'\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    assert run(["diff", *traces, "--gate", "gate.toml"]) == 1
    said = capsys.readouterr()
    assert said.err == (
        "::error file=gate.toml,line=2,col=1,title=rung diff::fwd: kernels <= +0, but 1 -> 2 (+1): new: toy\n"
    )
    page = Path("summary.md").read_text()
    assert "| fwd | kernels &lt;= +0 | 1 | 2 | +1 | **no** | new: toy |" in page
    assert "kernels a forward: 1 -> 2" in page
    assert run(["diff", *traces, "--gate", "gate.toml", "--no-github"]) == 1
    assert capsys.readouterr().err == ""


def test_a_gate_that_cannot_be_judged_exits_with_1(
    traces: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["diff", *traces, "-e", "gpu_busy <= +50%"]) == 1
    said = capsys.readouterr().out
    assert "one step tells no spread: record several" in said
    assert said.endswith("The gate does not hold: 1 line of it cannot be judged.\n")


@pytest.mark.parametrize("arguments", [["-e", "kernels <= 0"], ["-e", "gem <= +0"], ["--gate", "none.toml"]])
def test_a_mistake_is_usage(arguments: list[str], traces: tuple[str, str]) -> None:
    assert run(["diff", *traces, *arguments]) == 2
