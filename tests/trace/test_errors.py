"""What is no trace: one line that names the file, says what is wrong, and exit code 3."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest

from rung.errors import UnreadableTraceError
from rung.trace import read
from rung.trace.source import FIRST
from tracelib import codes, kernel, launch, text

PNG = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"
)


def refused(path: Path | str) -> str:
    with pytest.raises(UnreadableTraceError) as caught:
        read(path)
    message = str(caught.value)
    assert caught.value.exit_code == 3
    assert "\n" not in message
    assert os.fspath(path) in message
    return message


def test_a_missing_file(tmp_path: Path) -> None:
    assert refused(tmp_path / "absent.json").endswith("absent.json does not exist.")


def test_a_folder(tmp_path: Path) -> None:
    assert "is a folder; name a trace file in it" in refused(tmp_path)


def test_a_path_through_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"{}")
    assert "cannot be read" in refused(tmp_path / "file" / "trace.json")


def test_a_path_with_a_zero_byte() -> None:
    assert "cannot be read" in refused("a\0b")


CASES = {
    "empty": (b"", "is empty"),
    "blank": (b" \n\t ", "is empty"),
    "only a byte order mark": (b"\xef\xbb\xbf", "is empty"),
    "text": (b"Traceback (most recent call last):", "it is not JSON (first byte 'T')"),
    "markdown": (b"# Rung\n", "it is not JSON (first byte '#')"),
    "png": (PNG, "it is not JSON (first byte '0x89')"),
    "zeros": (bytes(100), "it is not JSON (first byte '0x00')"),
    "utf-16": ('{"traceEvents": []}'.encode("utf-16"), "is UTF-16 text"),
    "object": (b'{"a": 1}', "is JSON, but holds no trace events"),
    "no events": (b'{"traceEvents": []}', "is JSON, but holds no trace events"),
    "events of no shape": (b'{"traceEvents": {"a": 1}}', "is JSON, but holds no trace events"),
    "events without a phase": (b'[{"name": "x"}]', "is JSON, but holds no trace events"),
    "empty list": (b"[]", "is JSON, but holds no trace events"),
    "numbers": (b"[1, 2, 3]", "is JSON, but holds no trace events"),
    "string": (b'"trace"', "is JSON, but holds no trace events"),
    "number": (b"42", "is JSON, but holds no trace events"),
    "cut in the header": (b'{"schemaVersion": 1, "deviceProp', "no whole event could be found"),
    "cut in the first event": (b'{"traceEvents": [{"ph": "X", "na', "no whole event could be found"),
    "deep": (b"[" * 100_000, "holds no trace events"),
    "garbage in brackets": (b"[" + bytes(range(256)) * 4, "no whole event could be found"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_no_trace(case: str, tmp_path: Path) -> None:
    data, words = CASES[case]
    plain = tmp_path / "trace.json"
    plain.write_bytes(data)
    assert words in refused(plain)
    packed = tmp_path / "trace.json.gz"
    packed.write_bytes(gzip.compress(data))
    assert words in refused(packed)


@pytest.mark.parametrize("rest", [b"", b"\x08", b"\x08\x00\x00\x00\x00\x00\x00\x03", b"garbage" * 20])
def test_a_gzip_file_with_nothing_in_it(rest: bytes, tmp_path: Path) -> None:
    path = tmp_path / "trace.json.gz"
    path.write_bytes(b"\x1f\x8b" + rest)
    assert "gzip file with nothing readable in it" in refused(path)


def test_a_gzip_stream_in_several_members(tmp_path: Path) -> None:
    data = text(launch(0, 1, 1), kernel("k", 5, 1, 1))
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(data[:50]) + gzip.compress(data[50:]))
    assert len(read(path).kernels) == 1


def test_a_gzip_stream_with_a_damaged_middle(tmp_path: Path) -> None:
    data = text(*(kernel(f"kernel {i}", i, 1) for i in range(3000)))
    packed = bytearray(gzip.compress(data, 1))
    packed[len(packed) // 2 : len(packed) // 2 + 40] = bytes(40)
    path = tmp_path / "trace.json.gz"
    path.write_bytes(packed)
    trace = read(path)
    assert 100 < len(trace.kernels) < 3000
    assert trace.kernels[99].name == "kernel 99"
    assert "truncated" in codes(trace)


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(b"\xef\xbb\xbf" + text(kernel("k", 5, 1)))
    trace = read(path)
    assert (len(trace.kernels), trace.incomplete) == (1, None)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    data = gzip.compress(text(kernel("k", 5, 1)))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    trace = read("-")
    assert (trace.path, len(trace.kernels)) == ("standard input", 1)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(UnreadableTraceError, match="standard input is empty"):
        read("-")


class Endless:
    """A pipe that gives the same bytes over and over; whoever reads to its end never returns."""

    def __init__(self, beginning: bytes, over: bytes) -> None:
        self.left = io.BytesIO(beginning)
        self.over = over

    def read(self, size: int = -1) -> bytes:
        assert size >= 0, "read to the end"
        return (self.left.read(size) + self.over * (size // len(self.over) + 1))[:size]


@pytest.mark.parametrize(
    ("beginning", "over"),
    [
        (b"", b"\0"),
        (b"", b" \n"),
        (b"{", b'{"a": '),
        (b"a log\n", b"y\n"),
        (gzip.compress(b"\0" * 100, mtime=0), b"\0"),
    ],
)
def test_what_does_not_end_is_no_trace(
    beginning: bytes, over: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=Endless(beginning, over)))
    with pytest.raises(UnreadableTraceError, match="standard input is not a trace: no event in its first"):
        read("-")


def test_zeros_that_are_deflated_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 16 MB of zeros 16 kB are left: nobody has to wait for 16 MB of those."""
    packed = zlib.compressobj(wbits=31)
    beginning = b"".join(packed.compress(bytes(1 << 20)) for _ in range(80))
    assert len(beginning) > FIRST
    pipe = io.BytesIO(beginning)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=pipe))
    with pytest.raises(UnreadableTraceError, match="no event in its first"):
        read("-")
    assert pipe.tell() == FIRST


def test_a_trace_behind_a_long_log(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"step done\n" * (2 * FIRST // 10) + text(kernel("k", 5, 1))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert len(read("-").kernels) == 1
