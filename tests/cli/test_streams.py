"""Standard streams that are closed, full or read by nobody: an exit code to rely on, at most one line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from rung.cli.app import run
from tracelib import annotation, kernel, launch, write

EVENTS = [annotation("fwd", 0, 50), launch(10, 5, correlation=1), kernel("nvjet_a", 20, 10, correlation=1)]
MAIN = "from rung.cli import main; main()"
FULL = Path("/dev/full")


@pytest.fixture
def trace(tmp_path: Path) -> str:
    return str(write(tmp_path / "one.json", *EVENTS))


def rung(*arguments: str, redirect: str = "", stdout: int = subprocess.PIPE) -> tuple[int, str]:
    """The exit code and what was said on stderr, in a process of its own."""
    command = f'exec "$0" -X dev -c "$1" "${{@:2}}" {redirect}'
    env = {name: value for name, value in os.environ.items() if name != "GITHUB_ACTIONS"}
    done = subprocess.run(
        ["bash", "-c", command, sys.executable, MAIN, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
        check=False,
    )
    return done.returncode, done.stderr


def unread(*arguments: str) -> tuple[int, str]:
    """As `rung ... | true` where `true` is quicker."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return rung(*arguments, stdout=writer)
    finally:
        os.close(writer)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["guess", "-e", "kernels=1"], 0),
        (["guess", "-e", "kernels=2"], 1),
        (["guess", "-e", "kernels=1", "--json"], 0),
        (["read"], 0),
        (["read", "--json"], 0),
    ],
)
def test_a_reader_that_went_away_changes_no_verdict(arguments: Sequence[str], code: int, trace: str) -> None:
    assert unread(*arguments, trace) == (code, "")


def test_help_that_nobody_reads_is_no_failure() -> None:
    assert unread("--help") == (0, "")


def test_a_story_that_is_read_by_halves_is_no_failure() -> None:
    assert unread("climb", "mlp", "--recorded", "h200", "--no-guess") == (0, "")


@pytest.mark.parametrize("arguments", [["read"], ["read", "--json"], ["guess", "-e", "kernels=1"]])
def test_a_full_disk_is_said(arguments: Sequence[str], trace: str) -> None:
    if not FULL.exists():
        pytest.skip("this system has no /dev/full")
    said = "rung: standard output cannot be written: No space left on device\n"
    assert rung(*arguments, trace, redirect=f">{FULL}") == (2, said)


@pytest.mark.parametrize("arguments", [["read"], ["name"]])
def test_a_closed_standard_output_is_said(arguments: Sequence[str], trace: str) -> None:
    said = "rung: standard output cannot be written: it is closed\n"
    assert rung(*arguments, trace, redirect=">&-") == (2, said)


@pytest.mark.parametrize("redirect", ["2>&-", ">&- 2>&- <&-"])
def test_without_standard_error_the_exit_code_says_it(redirect: str) -> None:
    assert rung("read", "missing.json", redirect=redirect) == (3, "")


def test_an_interrupt_is_said(
    trace: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rung.trace.read", interrupted)
    assert run(["guess", trace, "-e", "kernels=1"]) == 130
    assert capsys.readouterr().err == "rung: interrupted\n"


def test_what_the_system_refuses_is_said(
    trace: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "traces/x.json")

    monkeypatch.setattr("rung.trace.read", full)
    assert run(["guess", trace, "-e", "kernels=1"]) == 2
    assert capsys.readouterr().err == "rung: traces/x.json: No space left on device\n"


def test_too_little_memory_is_said(
    trace: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def too_much(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("rung.trace.read", too_much)
    assert run(["guess", trace, "-e", "kernels=1"]) == 4
    assert capsys.readouterr().err == "rung: there is too little memory for this\n"
