"""Reading that takes its time: a bar on a terminal, and an interruption that leaves at once."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tracelib import annotation, op, text

SLOW_BLOCKS = """
import sys, time
from rung.trace import stream
text = stream.Stream._text
def slowly(self, start):
    for block in text(self, start):
        yield block
        print("waiting", flush=True)
        time.sleep({seconds})
stream.Stream._text = slowly
from rung.cli import main
main()
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "big.json"
    path.write_bytes(
        text(annotation("fwd", 0, 9), *(op(f"aten::op{i}", i, 1, x="y" * 90) for i in range(3000)))
    )
    return path


def command(trace: Path, seconds: float) -> list[str]:
    return [
        sys.executable,
        "-c",
        SLOW_BLOCKS.format(seconds=seconds),
        "read",
        str(trace),
        "--no-cache",
        "--json",
    ]


def test_an_interruption_ends_it_at_once_with_130(trace: Path) -> None:
    child = subprocess.Popen(
        command(trace, 60), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert child.stdout and child.stdout.readline() == "waiting\n"
    began = time.monotonic()
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=30)
    assert (child.returncode, err) == (130, "rung: interrupted\n")
    assert time.monotonic() - began < 10


def on_a_terminal(trace: Path, seconds: float) -> tuple[int, str]:
    """The exit code, and what a terminal at stderr got to see."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    child = subprocess.Popen(command(trace, seconds), stdout=subprocess.DEVNULL, stderr=theirs, env=env)
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        seen += part
    os.close(ours)
    return child.wait(), seen.decode(errors="replace")


def test_a_terminal_sees_how_long_it_will_take(trace: Path) -> None:
    code, seen = on_a_terminal(trace, 2.5)
    assert code == 0
    assert "0:00:0" in seen or "-:--:--" in seen
    assert "linking" in seen


def test_nothing_is_shown_of_work_that_is_soon_done(trace: Path) -> None:
    code, seen = on_a_terminal(trace, 0)
    assert (code, "linking" in seen, "%" in seen) == (0, False, False)
