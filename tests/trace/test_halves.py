"""A big file that two processes decode, a half each, is the same trace."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rung.trace import halves, read
from rung.trace.assemble import assemble
from rung.trace.document import decode
from rung.trace.source import Source
from rung.trace.stored import to_arrays
from rung.trace.stream import Stream
from tracelib import Event, arrow, codes, document, frame, kernel, launch, op, step, text


def forward(i: int) -> list[Event]:
    at = 100 * i
    mm, back = op("aten::mm", at + 10, 30, **{"Input Dims": [[i, 2], []]}), op("MmBackward0", at + 60, 5)
    return [
        step(i, at, 99),
        frame('},{"ph": "X"', at + 5, 80),
        mm,
        *({"ph": "B", "pid": 1, "tid": "b", "ts": at}, {"ph": "E", "pid": 1, "tid": "b", "ts": at + i}),
        launch(at + 20, 5, correlation=3 * i + 1),
        kernel(f"toy_gemm{i % 3}", at + 30.125, 20, correlation=3 * i + 1, stream=i % 2),
        back,
        {"ph": "i", "name": "instant", "ts": at},
        *arrow("fwdbwd", i, mm, back),
    ]


LOOKS_LIKE_A_CUT = op("", 1, 2, list=[{"ph": "X"}, {"ph": "X"}])
EVENTS = [event for i in range(1, 9) for event in [*forward(i), LOOKS_LIKE_A_CUT]]
DOCUMENTS = {
    "header before": text(*EVENTS, rank=3),
    "header behind": json.dumps({"traceEvents": EVENTS, "rank": 3}).encode(),
    "a bare list": json.dumps(EVENTS).encode(),
    "a list behind": json.dumps({**document(*EVENTS[:20]), "others": EVENTS[20:]}).encode(),
    "a list before": json.dumps({"others": EVENTS[20:], **document(*EVENTS[:20])}).encode(),
    "two lists": text(*EVENTS[:40])[:-1] + b', "traceEvents": %b}' % json.dumps(EVENTS[40:]).encode(),
    "damage": text(*EVENTS).replace(b"toy_gemm2", b"toy\x01gemm2", 1),
    "cut short": text(*EVENTS)[:-100],
}


@contextmanager
def in_this_process(half: halves.Half, stacks: bool) -> Iterator[Callable[[], halves.Decoded]]:
    yield lambda: halves.decode_half(half, stacks)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("halves")


def everything(found: Any) -> dict[str, bytes]:
    return {key: array.tobytes() for key, array in to_arrays(assemble(found)).items()}


@pytest.mark.parametrize("kind", DOCUMENTS)
@settings(max_examples=50)
@given(at=st.floats(0, 1), stacks=st.booleans(), deflated=st.booleans())
def test_halves_are_the_whole_wherever_it_is_cut(
    folder: Path, kind: str, at: float, stacks: bool, deflated: bool
) -> None:
    data = DOCUMENTS[kind]
    path = folder / "trace.json"
    path.write_bytes(gzip.compress(data, 1) if deflated else data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(halves, "LARGE", 0)
        patch.setattr(halves, "HEAD_START", int((2 * at - 1) * len(data)))
        patch.setattr(halves, "INFLATING", 0)
        patch.setattr(halves, "_beside", in_this_process)
        patch.setattr(halves, "_processors", lambda: 2)
        parts = decode(Stream(str(path)), stacks=stacks)
    whole = decode(Source(str(path), data), stacks=stacks)
    assert everything(parts) == everything(whole)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trace that is big enough for a second process."""
    monkeypatch.setattr(halves, "LARGE", 1 << 19)
    monkeypatch.setattr(halves, "HEAD_START", 0)
    monkeypatch.setattr(halves, "_processors", lambda: 2)
    path = tmp_path / "big.json"
    path.write_bytes(text(*(event for i in range(500) for event in forward(i)), rank=3))
    assert path.stat().st_size > halves.LARGE
    return path


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that were started."""
    found: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def noted(*how: Any, **more: Any) -> subprocess.Popen[bytes]:
        found.append(popen(*how, **more))
        return found[-1]

    monkeypatch.setattr(subprocess, "Popen", noted)
    return found


@pytest.mark.parametrize("deflated", [False, True])
def test_a_second_process_decodes_the_second_half(path: Path, started: list[Any], deflated: bool) -> None:
    data = path.read_bytes()
    path.write_bytes(gzip.compress(data, 0) if deflated else data)
    heard: list[tuple[int, int]] = []
    found = decode(Stream(str(path), lambda done, total: heard.append((done, total))))
    assert [process.returncode for process in started] == [0]
    assert heard[-1] == (path.stat().st_size, path.stat().st_size)
    assert everything(found) == everything(decode(Source(str(path), data)))


@pytest.mark.parametrize("where", [0.3, 0.8])
def test_damage_in_either_half_is_counted_as_in_a_whole(path: Path, where: float) -> None:
    data = path.read_bytes()
    at = data.index(b"toy_gemm", int(where * len(data)))
    damaged = data[:at] + b"\x01" + data[at:]
    path.write_bytes(damaged)
    trace = read(path, cache=False)
    assert codes(trace) == codes(assemble(decode(Source("whole", damaged))))
    assert codes(trace)["control-character"] == 1


@pytest.mark.parametrize("python", ["/nonexistent", "/bin/false"])
def test_without_its_second_process_a_file_is_read_in_one(
    path: Path, monkeypatch: pytest.MonkeyPatch, python: str
) -> None:
    monkeypatch.setattr(sys, "executable", python)
    assert read(path, cache=False).events == 500 * len(forward(1))


def test_halves_of_two_cuts_are_no_trace(path: Path) -> None:
    found = halves.halves(Stream(str(path)))
    assert found is not None
    first, second = found
    second.middle += 10_000
    with pytest.raises(msgspec.DecodeError, match="changed"):
        halves.decode_halves(first, second, stacks=True)


def test_who_interrupts_the_reading_ends_both_processes(path: Path, started: list[Any]) -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read(path, cache=False, progress=interrupt)
    assert [process.poll() is None for process in started] == [False]


def test_a_file_is_not_halved_where_that_does_not_pay(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert halves.halves(Stream(str(path))) is not None
    with monkeypatch.context() as patch:
        patch.setattr(halves, "LARGE", path.stat().st_size + 1)
        assert halves.halves(Stream(str(path))) is None
    monkeypatch.setattr(halves, "_processors", lambda: 1)
    assert halves.halves(Stream(str(path))) is None
