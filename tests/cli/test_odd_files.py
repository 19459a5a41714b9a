"""Files that are odd: names that are no text, devices, places where nothing can be written."""

from __future__ import annotations

import errno
import json
import os
import sys
from pathlib import Path

import pytest

from rung.cli.app import run
from rung.errors import UsageError
from rung.recording.artifacts import check_writable, staged
from tracelib import annotation, kernel, launch, write

EVENTS = [annotation("fwd", 0, 50), launch(10, 5, correlation=1), kernel("nvjet_a", 20, 10, correlation=1)]
PROC = Path("/proc")


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    return str(write(tmp_path / "one.json", *EVENTS))


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code, and the one line on stderr without `rung: `."""
    code = run(arguments)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("rung: ")
    assert said.err.index("\n") == len(said.err) - 1
    return code, said.err[6:-1]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere file names are text")
def test_a_name_that_is_no_utf8_is_marked_in_json(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    odd = trace.replace("one.json", os.fsdecode(b"n\xff.json"))
    os.rename(trace, odd)
    shown = trace.replace("one.json", "n\ufffd.json")
    assert run(["read", "--json", odd]) == 0
    assert json.loads(capsys.readouterr().out)["trace"]["path"] == shown
    assert run(["diff", "--json", odd, odd, "-e", "kernels <= +0"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["a"], found["b"], found["gate"]["held"]) == (shown, shown, True)
    assert run(["read", "--json", "--header", odd]) == 0
    assert shown in capsys.readouterr().out


@pytest.mark.parametrize("verb", [["read"], ["guess", "-e", "kernels=1"]])
def test_an_empty_name_is_no_folder(verb: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert refused([*verb, ""], capsys) == (3, "the name of the trace is empty.")


def test_a_device_is_refused_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(["read", os.devnull], capsys) == (
        3,
        f"{os.devnull} is a device; a trace is a file, or a pipe.",
    )


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="this system has no /dev/fd")
def test_a_pipe_with_a_name_is_read(trace: str) -> None:
    reader, writer = os.pipe()
    os.write(writer, Path(trace).read_bytes())
    os.close(writer)
    try:
        assert run(["guess", f"/dev/fd/{reader}", "-e", "kernels=1"]) == 0
    finally:
        os.close(reader)


@pytest.mark.parametrize("arguments", [["read", "-"], ["guess", "-", "-e", "kernels=1"], ["name", "-"]])
def test_a_closed_standard_input_is_said(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    code, said = refused(arguments, capsys)
    assert code == 3
    assert "standard input is closed" in said


class TestWhereNothingCanBeWritten:
    def test_a_draft(self, trace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        out = tmp_path / "file"
        out.write_text("x = 1")
        code, said = refused(["guess", trace, "--write", "--out", str(out / "q")], capsys)
        assert code == 2
        assert said.startswith(f"the draft cannot be written to {out / 'q'}: ")

    def test_a_draft_over_what_is_no_text(
        self, trace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = tmp_path / "picture.png"
        out.write_bytes(b"\x89PNG")
        code, said = refused(["guess", trace, "--write", "--out", str(out)], capsys)
        assert code == 2
        assert said == f"{out} is no guess file: it is not UTF-8 text."

    @pytest.mark.skipif(not PROC.exists(), reason="this system has no /proc")
    def test_a_recording_is_refused_before_any_work(self) -> None:
        with pytest.raises(UsageError, match=r"cannot write to /proc/x/y: .*choose another --out"):
            check_writable(PROC / "x" / "y")

    def test_the_check_leaves_nothing_behind(self, tmp_path: Path) -> None:
        check_writable(tmp_path / "a" / "b")
        assert list(tmp_path.iterdir()) == []

    def test_a_disk_that_fills_leaves_nothing_behind(self, tmp_path: Path) -> None:
        def write_half() -> None:
            with staged(tmp_path / "a" / "t.json") as (path,):
                path.write_text("half")
                raise OSError(errno.ENOSPC, "No space left on device")

        with pytest.raises(OSError, match="No space left"):
            write_half()
        assert list(tmp_path.iterdir()) == []
