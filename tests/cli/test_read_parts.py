"""`rung read` of a part of a trace: one stream, one device, some time, its header, without stacks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rung.cli.app import run
from tracelib import annotation, frame, kernel, launch, op, step, work, write

EVENTS = [
    step(1, 0, 100),
    annotation("fwd", 5, 80),
    frame("a.py(1): f", 6, 70),
    op("aten::mm", 10, 30),
    launch(20, 5, correlation=1),
    kernel("k1", 30, 10, correlation=1),
    op("aten::mul", 50, 20),
    launch(55, 5, correlation=2),
    work("kernel", "k2", 60, 5, correlation=2, stream=9),
]


@pytest.fixture
def trace(tmp_path: Path) -> str:
    return str(write(tmp_path / "one.json", *EVENTS, traceName="x"))


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run(["read", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(
    ("asked", "kernels"),
    [
        ([], ["k1", "k2"]),
        (["--stream", "9"], ["k2"]),
        (["--device", "0", "--stream", "7"], ["k1"]),
        (["--between", "0us..35us"], ["k1"]),
        (["--between", "40 us..1 ms"], ["k2"]),
        (["--between", "60us..61us", "--region", "fwd", "--step", "1"], ["k2"]),
    ],
)
def test_only_the_work_that_was_asked_for(
    trace: str, capsys: pytest.CaptureFixture[str], asked: list[str], kernels: list[str]
) -> None:
    found = answer(capsys, trace, *asked)
    assert [k["name"] for k in found["kernels"]] == kernels
    assert [r["kernels"] for r in found["regions"]] == [len(kernels)]


def test_a_terminal_counts_the_same(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["read", trace, "--stream", "9"]) == 0
    assert "1 kernel, 1 launch" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["--stream", "8"], "has no work on stream 8; its streams: 7, 9."),
        (["--between", "5"], "--between takes a range of times such as 1ms..2.5ms, not '5'."),
        (["--between", "5..6"], "--between"),
        (["--between", "1s..2s"], "has no region in that time."),
        (["--between", "1s..2s", "--step", "1"], "has no region of step 1 in that time."),
    ],
)
def test_what_cannot_be_is_one_line(
    trace: str, capsys: pytest.CaptureFixture[str], asked: list[str], message: str
) -> None:
    assert run(["read", trace, *asked]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err


def test_header(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, trace, "--header")
    assert found["trace"] == {"path": trace, "device": "Test GPU", "rank": None}
    assert (found["header"]["traceName"], found["whole"]) == ("x", True)
    assert run(["read", trace, "--header"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("   Test GPU")
    assert "  traceName: x" in lines


def test_what_a_recording_says_of_itself_is_a_line_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    path = write(tmp_path / "t.json", *EVENTS, rung={"variant": "eager", "weights": {"w": [0] * 99}})
    assert run(["read", str(path), "--header"]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("  rung")
    assert lines[at + 1] == "    variant: eager"
    assert lines[at + 2].startswith('    weights: {"w":[0,0') and lines[at + 2].endswith("...")


def test_stacks_left_out_change_no_number(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, trace, "--no-stacks", "--no-cache") == answer(capsys, trace)


def test_two_writers_are_read_when_asked_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.json"
    first, second = (
        [json.dumps(op(name, at, 5, pid=pid)) for at in (10, 20, 30)]
        for name, pid in (("aten::a", 1), ("aten::b", 2))
    )
    torn = '{"ph": "X", "cat": "cpu_op", "name": "aten::a", "pid'
    path.write_text(f'{{"traceEvents": [{", ".join([*first, torn, *second])}]}}')
    assert run(["read", str(path)]) == 3
    assert "--salvage reads every intact event of both" in capsys.readouterr().err
    found = answer(capsys, str(path), "--salvage")["trace"]
    assert (found["events"], found["skipped_events"]) == (6, 1)
    assert "two-writers" in [warning["code"] for warning in found["warnings"]]
