"""A user's mistake is one line on stderr and the exit code for it, never a traceback."""

from __future__ import annotations

import gzip
from importlib.util import find_spec
from pathlib import Path

import pytest

from rung.cli.app import run
from tracelib import annotation, kernel, launch, text, write

EVENTS = [annotation("fwd", 0, 50), launch(10, 5, correlation=1), kernel("nvjet_a", 20, 10, correlation=1)]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with one sound trace and files that are none."""
    write(tmp_path / "sound.json", *EVENTS)
    (tmp_path / "empty.json").write_bytes(b"")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    (tmp_path / "folder").mkdir()
    (tmp_path / "config.json").write_text('{"lr": 0.1}')
    (tmp_path / "list.json").write_text("[1, 2, 3]")
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(text(*EVENTS))[:12])
    (tmp_path / "\x1b[31mred.json").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code, and the one line on stderr; nothing else was said."""
    code = run(arguments)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.endswith("\n")
    assert said.err.count("\n") == 1
    assert said.err.startswith("rung: ")
    assert "Traceback" not in said.err
    return code, said.err


@pytest.mark.parametrize(
    "verb", [["read"], ["read", "--json"], ["diff", "sound.json"], ["guess", "-e", "gemm=1"]]
)
@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("missing.json", "does not exist"),
        ("empty.json", "empty"),
        ("picture.png", "not a trace"),
        ("folder", "is a folder"),
        ("config.json", "no trace events"),
        ("list.json", "trace"),
        ("cut.json.gz", "cut.json.gz"),
        ("\x1b[31mred.json", "␛[31mred.json"),
    ],
)
def test_what_is_no_trace_is_exit_3(
    verb: list[str], name: str, word: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = refused([*verb, name], capsys)
    assert code == 3
    assert word in said
    assert "\x1b" not in said


CLIMB = ["climb", "matmul-add"]
BETWEEN = ["--between", "0us..9us"]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["read", "sound.json", "--region", "bwd"], "it has: fwd"),
        (["read", "sound.json", "--region", ""], "it has: fwd"),
        (["read", "sound.json", "--step", "3"], "has no step 3"),
        (["read", "sound.json", "--step", "3", "--json"], "has no step 3"),
        (["read", "sound.json", "--step", "x"], "--step takes a whole number, such as 2; see rung read --"),
        (["show", "sound.json", "--step", "1.5"], "--step takes a whole number, such as 2; see rung show --"),
        (
            ["show", "sound.json", "--step", "1", *BETWEEN],
            "--step and --between each choose a time: give one",
        ),
        (["show", "--perfetto", "a", "--step", "1", *BETWEEN], "--step and --between each"),
        (["convert", "a", "-o", "b", "--step", "1", *BETWEEN], "--step and --between each"),
        (["convert", "a", "-o", "b", "--region", "c", *BETWEEN], "--region and --between each"),
        (["read", "sound.json", "--step"], "'--step' requires an argument; see rung read --help"),
        (["read"], "trace"),
        (["read", "sound.json", "--jason"], "--jason"),
        (["diff", "sound.json", "sound.json", "--region", "bwd"], "it has: fwd"),
        (["diff", "sound.json"], "see rung diff --help"),
        (["nope"], "nope"),
        (["climb", "nope"], "give matmul-add, linear, mlp"),
        ([*CLIMB, "--size", "0"], "at least 1"),
        ([*CLIMB, "--size", "-3"], "at least 1"),
        ([*CLIMB, "--size", "big"], "--size takes a whole number"),
        ([*CLIMB, "--seq", "3"], "no parameter 'seq'"),
        ([*CLIMB, "--variants", "nope"], "give eager, compiled"),
        ([*CLIMB, "--variants", ","], "no variant is given: give one or more of eager, "),
        ([*CLIMB, "--device", "abacus"], "give cpu, cuda or cuda:N"),
        ([*CLIMB, "--dtype", "int7"], "int7"),
        ([*CLIMB, "--guess", "gem=1"], "Did you mean 'gemm'"),
        ([*CLIMB, "--guess", "kernels"], "kernels"),
        ([*CLIMB, "--guess", ","], "guess"),
        ([*CLIMB, "--recorded", "nonsense"], "give h200, article"),
        ([*CLIMB, "--recorded", "h200", "--size", "77"], "size 64; size 4096"),
        ([*CLIMB, "--recorded", "h200", "--size", "0"], "at least 1"),
        ([*CLIMB, "--recorded", "h200", "--device", "cuda"], "--device says how to record"),
        ([*CLIMB, "--recorded", "h200", "--dtype", "float32"], "--dtype says how to record"),
        ([*CLIMB, "--recorded", "h200", "--variants", "eager,nope"], "no variant 'nope'"),
        ([*CLIMB, "--recorded", "h200", "--guess", "gemm=many"], "many"),
        (
            ["climb", "mlp", "--recorded", "article", "--variants", "eager,rung"],
            "mlp/eager, mlp/compiled, mlp/liger",
        ),
    ],
)
def test_what_makes_no_sense_is_exit_2(
    arguments: list[str], word: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if arguments[0] == "climb" and find_spec("torch") is None and "--recorded" not in arguments:
        pytest.skip("torch is not installed")
    code, said = refused(arguments, capsys)
    assert code == 2
    assert word in said
    assert not (files / "traces").exists()


@pytest.mark.torch
def test_a_device_that_is_not_there_is_exit_4_and_says_what_would_do(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device here")
    code, said = refused(["climb", "mlp", "--device", "cuda", "--no-guess"], capsys)
    assert code == 4
    assert "--device cpu" in said
    assert not (files / "traces").exists()
