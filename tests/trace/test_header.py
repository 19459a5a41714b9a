"""The header without the events, from as few bytes as can be."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from rung.errors import UnreadableTraceError
from rung.trace import peek, read, read_header
from tracelib import GPU, Event, op, text

EVENTS: list[Event] = [
    op(f"aten::op{i}", i, 1, **{"Input Dims": [[1, 2], []], "note": "x" * 80}) for i in range(6000)
]
BEHIND = {"traceName": "x.json", "displayTimeUnit": "ms", "list": [[1], {"a": [2]}]}


def write(path: Path, *, before: Event, behind: Event) -> Path:
    middle = json.dumps({"traceEvents": EVENTS})[1:-1]
    head, tail = json.dumps(before)[:-1], json.dumps(behind)[1:]
    commas = (", " if before else "", ", " if behind else "")
    data = f"{head}{commas[0]}{middle}{commas[1]}{tail}".encode()
    assert json.loads(data)["traceEvents"] == EVENTS
    path.write_bytes(gzip.compress(data, 0) if path.suffix == ".gz" else data)
    return path


def test_members_before_and_behind(tmp_path: Path) -> None:
    header, whole = read_header(write(tmp_path / "a.json", before={"deviceProperties": [GPU]}, behind=BEHIND))
    assert whole
    assert header.metadata == {"deviceProperties": [GPU], **BEHIND}
    assert header.device == "Test GPU"


def test_a_deflated_file_is_inflated_up_to_its_events(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json.gz", before={"deviceProperties": [GPU]}, behind=BEHIND)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])  # the rest is never looked at
    header, whole = read_header(path)
    assert (header.metadata, whole) == ({"deviceProperties": [GPU]}, False)


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_members_behind_alone_are_looked_for_at_the_end(tmp_path: Path, name: str) -> None:
    header, whole = read_header(write(tmp_path / name, before={}, behind=BEHIND))
    assert (header.metadata, whole) == (BEHIND, True)


def test_no_event_is_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peek, "decode", None)
    assert read_header(write(tmp_path / "a.json", before={"a": 1}, behind={}))[0].metadata == {"a": 1}


def test_a_damaged_file_is_read_as_usual(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_bytes(text(*EVENTS, traceName="x")[:-200])
    header, whole = read_header(path)
    assert whole
    assert header.metadata == read(path, cache=False).header.metadata
    assert header.device == "Test GPU"


def test_every_recording_has_the_header_that_reading_finds(shared: Path) -> None:
    for path in sorted((shared / "h200").glob("0[1-3]*.json.gz")):
        header, whole = read_header(path)
        known = read(path).header.metadata
        assert header.metadata == (known if whole else {key: known[key] for key in header.members}), path


def test_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "no.json"
    path.write_text("{}")
    with pytest.raises(UnreadableTraceError, match="holds no trace events"):
        read_header(path)
