"""A big trace is decoded once; a cache that is off, damaged or contested changes nothing but the time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rung.trace import Trace, cache, frames, narrow, read, reading
from tracelib import Event, annotation, arrow, copy, kernel, launch, memset, op, step, text, work


def forward(i: int) -> list[Event]:
    at = 100 * i
    mm = op("aten::mm", at + 10, 30, **{"Input Dims": [[i, 2], []]})
    back = op("MmBackward0", at + 60, 5)
    return [
        step(i, at, 99),
        annotation("fwd", at + 5, 80),
        mm,
        back,
        launch(at + 20, 5, correlation=3 * i + 1),
        kernel("toy_gemm", at + 30, 20, correlation=3 * i + 1, grid=[i, 1, 1]),
        work("kernel", "named", at + 52, 1, stream="s") if i % 2 else memset(at + 52, 1),  # type: ignore[arg-type]
        copy(at + 95, 3),
        *arrow("fwdbwd", i, mm, back),
    ]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trace just big enough, and an empty cache."""
    monkeypatch.setenv("RUNG_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("RUNG_NO_CACHE", raising=False)
    monkeypatch.setattr(cache, "FEW", 1000)
    made = tmp_path / "big.json"
    made.write_bytes(text(*(event for i in range(300) for event in forward(i)), traceName="kept"))
    return made


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that were decoded, not fetched from the cache."""
    paths: list[str] = []
    decode = reading.decode

    def noted(source: Any, *how: Any) -> Any:
        paths.append(source.path)
        return decode(source, *how)

    monkeypatch.setattr(reading, "decode", noted)
    return paths


def entries() -> list[Path]:
    return sorted(cache.folder().glob("*"))


def everything(trace: Trace) -> list[Any]:
    tables = [[(key, c.values) for key, c in frames.columns(trace, name).items()] for name in frames.TABLES]
    scalars = [trace.path, trace.events, trace.span_ns, trace.origin_ns, trace.stand_in, trace.incomplete]
    args = [[row.args for row in rows] for rows in (trace.kernels, trace.ops)]
    inside = [[(k.row, o.row) for k in r.work for o in r.ops] for r in trace.regions]
    chains = [trace.chain(kernel_).step for kernel_ in trace.kernels]
    return [tables, scalars, args, inside, chains, trace.warnings, trace.header.metadata, trace.device]


def test_the_second_read_decodes_nothing_and_is_the_same(path: Path, decoded: list[str]) -> None:
    first = read(path)
    assert decoded == [str(path)]
    second = read(path)
    assert decoded == [str(path)]
    assert everything(second) == everything(first)
    assert all(isinstance(o.thread, tuple) for o in second.ops[:3])


def test_a_narrowed_trace_from_the_cache(path: Path) -> None:
    first, second = (narrow(read(path), stream="7", between=(0, 1_000_000)) for _ in range(2))
    assert len(second.kernels) == 25  # a GEMM and a copy in each of ten steps, a memset in each other one
    assert everything(second) == everything(first)


def test_another_name_for_the_same_content_is_the_same_entry(path: Path, decoded: list[str]) -> None:
    read(path)
    moved = path.rename(path.with_name("moved.json"))
    assert read(moved).path == str(moved)
    assert len(decoded) == 1


def test_changed_content_of_the_same_size_is_decoded_anew(path: Path, decoded: list[str]) -> None:
    read(path)
    data = path.read_bytes()
    middle = data.index(b"toy_gemm", len(data) // 2)
    path.write_bytes(data[:middle] + b"new" + data[middle + 3 :])
    assert any(k.name == "new_gemm" for k in read(path).kernels)
    assert len(decoded) == 2


def test_each_way_of_reading_has_its_own_entry(path: Path, decoded: list[str]) -> None:
    for how in ({}, {"salvage": True}, {"stacks": False}) * 2:
        read(path, **how)
    assert len(decoded) == len(entries()) == 3


def test_off_by_argument_or_environment(
    path: Path, decoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read(path, cache=False)
    monkeypatch.setenv("RUNG_NO_CACHE", "1")
    read(path)
    assert (len(decoded), entries()) == (2, [])
    monkeypatch.setenv("RUNG_NO_CACHE", "0")
    read(path)
    assert len(entries()) == 1


def test_small_traces_are_not_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "FEW", 10_000)
    read(path)
    assert entries() == []


@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.9, 0.999])
def test_an_entry_cut_short_is_made_anew(path: Path, decoded: list[str], share: float) -> None:
    whole = everything(read(path))
    (entry,) = entries()
    data = entry.read_bytes()
    entry.write_bytes(data[: int(share * len(data))])
    assert everything(read(path)) == whole
    assert len(decoded) == 2
    assert everything(read(path)) == whole
    assert len(decoded) == 2


@pytest.mark.parametrize("tenth", range(10))
def test_a_changed_byte_is_found_out(path: Path, tenth: int) -> None:
    whole = everything(read(path))
    (entry,) = entries()
    data = bytearray(entry.read_bytes())
    data[len(data) * tenth // 10 + 999] ^= 0xFF
    entry.write_bytes(data)
    assert everything(read(path)) == whole


def test_arguments_come_from_the_file_where_the_entry_has_gone(path: Path) -> None:
    read(path)
    trace = read(path)
    entries()[0].unlink()
    assert trace.kernels[0].args["grid"] == [0, 1, 1]


def test_a_folder_that_cannot_be_written_is_no_cache(path: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert len(read(path).kernels) == 900


def test_the_oldest_entries_go_when_all_are_too_large(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read(path)
    (first,) = entries()
    monkeypatch.setattr(cache, "LARGEST_BYTES", first.stat().st_size * 3 // 2)
    read(path, salvage=True)
    assert len(entries()) == 1
    assert entries() != [first]


def test_writers_at_the_same_time_leave_one_sound_entry(path: Path, decoded: list[str]) -> None:
    code = (
        "import sys; from rung.trace import cache, read; cache.FEW = 1; print(len(read(sys.argv[1]).kernels))"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [writer.communicate()[0].strip() for writer in writers] == ["900"] * 4
    assert [entry.suffix for entry in entries()] == [".npz"]
    assert len(read(path).kernels) == 900
    assert decoded == []
