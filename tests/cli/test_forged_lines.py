"""A name from a trace, a guess or a path cannot start a line of its own, nor turn the text that follows."""

from __future__ import annotations

from pathlib import Path

import pytest

from rung.cli.app import run
from tracelib import annotation, kernel, launch, op, write

FORGED = "fwd\nThe guess holds.\n::error file=x::pwned\r\u2028a\u2029b\u202ec\u2066d\u200fe\x85f\x1b[2J"
SEEN = "fwd␊The guess holds.␊::error file=x::pwned␍\\u2028a\\u2029b\\u202ec\\u2066d\\u200fe�f␛[2J"
HIDDEN = set("\r\u2028\u2029\u202e\u2066\u200f\x85\x1b")


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A trace in which a region, an op and a kernel bear such a name."""
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)
    events = [annotation(FORGED, 0, 50), op(FORGED, 5, 20), launch(10, 5, correlation=1)]
    return str(write(tmp_path / "one.json", *events, kernel(FORGED, 20, 10, correlation=1)))


def said(arguments: list[str], capsys: pytest.CaptureFixture[str], code: int = 0) -> str:
    """What was said on both streams, having made sure that nothing in it hides or is forged."""
    assert run(arguments) == code
    found = capsys.readouterr()
    text = found.out + found.err
    assert not HIDDEN & set(text)
    starts = ("::error", "The guess holds.\n::")
    assert not [line for line in text.split("\n") if line.startswith(starts)]
    return text


def test_read(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(["read", trace], capsys).count(SEEN) >= 3
    assert SEEN in said(["read", trace, "--sql", "select name from kernels"], capsys)


def test_diff_and_its_gate(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(["diff", trace, trace, "-e", "kernels <= +0", "-e", "kernels <= -1"], capsys, 1)
    assert f"{SEEN}: kernels <= +0   1   1   +0   yes\n" in text
    assert text.endswith("The gate does not hold.\n")


def test_guess(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(["guess", trace, "-e", "kernels=0"], capsys, 1)
    head, row, conclusion = text.splitlines()
    assert head == f"{SEEN} (1 instance)"
    assert row.startswith("  kernels == 0   1   no")
    assert conclusion == "The guess does not hold."


def test_annotations(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    """GitHub's own escape of a newline is not undone."""
    for arguments in (["guess", trace, "-e", "kernels=0"], ["diff", trace, trace, "-e", "kernels <= -1"]):
        assert run([*arguments, "--github"]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("::error title=rung ")
        assert "fwd%0AThe guess holds.%0A::error file=x::pwned" in line
        assert not HIDDEN & set(line)


def test_guess_explained(trace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(["guess", trace, "-e", "kernels=0", "--explain"], capsys, 1).count(SEEN[:40]) >= 4
    said(["guess", "--explain", "-e", f'kernel:"{FORGED}"=1'], capsys)


def test_name(capsys: pytest.CaptureFixture[str]) -> None:
    said(["name", f"void at::native::{FORGED}<float>(int)"], capsys)
    assert SEEN in said(["name", FORGED, "nvjet_a"], capsys)


def test_errors(trace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(["read", trace, "--region", "nope"], capsys, 2).count("\n") == 1
    assert said(["read", str(tmp_path / FORGED.replace("/", ""))], capsys, 3).count("\n") == 1
    assert said(["read", trace, f"--{FORGED}"], capsys, 2).count("\n") == 1
    assert said([FORGED], capsys, 2).count("\n") == 1
