"""A trace that comes in pieces is the same trace, wherever they are cut."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rung.trace import pieces, read, stream
from rung.trace.assemble import assemble
from rung.trace.document import decode
from rung.trace.events import Event as Decoded
from rung.trace.pieces import Pieces
from rung.trace.source import Source
from tracelib import Event, codes, document, frame, kernel, launch, op, read_bytes, step, text

EVENTS: list[Event] = [
    step(1, 0, 400),
    *(op(f"aten::op{i}", 10 * i, 5, **{"Input Dims": [[i, 2], []]}) for i in range(30)),
    *(launch(10 * i + 1, 2, correlation=i) for i in range(1, 30)),
    *(kernel(f"k{i}", 10 * i + 4, 3, correlation=i) for i in range(1, 30)),
]
WHOLE = text(*EVENTS, traceName="x")

DECODE = msgspec.json.Decoder(list[Decoded]).decode


def blocks(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def names(data: bytes, size: int) -> list[str]:
    return [event.name for events, _ in Pieces(blocks(data, size), DECODE) for event in events]


@given(size=st.integers(1, len(WHOLE) + 1))
def test_events_and_header_are_the_same_in_blocks_of_any_size(size: int) -> None:
    cut = Pieces(blocks(WHOLE, size), DECODE)
    found = [event.name for events, _ in cut for event in events]
    assert found == [event["name"] for event in EVENTS]
    assert sorted(cut.header) == ["deviceProperties", "schemaVersion", "traceName"]


@pytest.mark.parametrize("size", [20, 1000])
def test_pieces_are_small_even_where_a_block_holds_no_cut(size: int) -> None:
    lengths = [len(piece) for _, piece in Pieces(blocks(WHOLE, size), DECODE)]
    assert len(lengths) > 5
    assert max(lengths) < 3000


@given(size=st.integers(1, 400))
def test_a_string_that_looks_like_a_cut_is_none(size: int) -> None:
    tricky = [op('},{"name": 1', 1, 1), op("a", 2, 1, list=[{"name": 1}, {"name": 2}]), op("], }", 3, 1)]
    data = text(*tricky * 5)
    assert names(data, size) == [event["name"] for event in tricky * 5]


@given(size=st.integers(1, 400))
def test_a_list_of_events_inside_the_header_is_not_the_trace_s(size: int) -> None:
    inner = {"traceEvents": [op("wrong", 0, 1)]}
    data = json.dumps({"rung": inner, **document(*EVENTS[:5])}).encode()
    assert names(data, size) == [event["name"] for event in EVENTS[:5]]


@given(size=st.integers(1, 400))
def test_a_bare_list(size: int) -> None:
    assert names(json.dumps(EVENTS[:9]).encode(), size) == [event["name"] for event in EVENTS[:9]]


def test_of_two_lists_of_events_the_last_counts_as_in_any_json() -> None:
    data = b'{"traceEvents": [%b], "traceEvents": [%b]}' % (
        json.dumps(op("first", 0, 1)).encode(),
        json.dumps(op("last", 0, 1)).encode(),
    )
    with pytest.raises(msgspec.DecodeError, match="two lists"):
        names(data, 40)
    assert [o.name for o in read_bytes(data).ops] != []


@dataclass
class InBlocks:
    source: Source
    size: int
    path: str = "blocks.json"

    def blocks(self) -> Iterator[bytes]:
        return blocks(self.source.data, self.size)

    def whole(self) -> Source:
        return self.source


@given(size=st.integers(100, 3000), at=st.integers(300, len(WHOLE) - 1))
def test_damage_in_a_piece_is_found_and_counted_as_in_a_whole(size: int, at: int) -> None:
    data = WHOLE[:at] + b"\x01" + WHOLE[at:]
    whole = read_bytes(data)
    cut = assemble(decode(InBlocks(Source("blocks.json", data), size)))  # type: ignore[arg-type]
    assert (cut.events, codes(cut), cut.skipped_events) == (whole.events, codes(whole), whole.skipped_events)


def big(folder: Path, name: str = "big.json") -> tuple[Path, int]:
    """A file that is streamed, and its events."""
    events = [op(f"aten::op{i}", i, 1, note="x" * 50) for i in range(6000)]
    path = folder / name
    path.write_bytes(text(*events))
    assert path.stat().st_size > max(stream.BIG, pieces.PIECE)
    return path, len(events)


def test_a_big_file_tells_how_far_it_is(tmp_path: Path) -> None:
    path, events = big(tmp_path)
    heard: list[tuple[int, int]] = []
    assert read(path, cache=False, progress=lambda done, total: heard.append((done, total))).events == events
    assert heard[-1] == (path.stat().st_size, path.stat().st_size)


def test_gzip_of_several_members_and_what_is_behind_them(tmp_path: Path) -> None:
    path, events = big(tmp_path)
    data = path.read_bytes()
    half = len(data) // 2
    deflated = tmp_path / "big.json.gz"
    deflated.write_bytes(
        gzip.compress(data[:half], 0) + gzip.compress(data[half:], 0) + b"\0\0 no gzip at all"
    )
    assert read(deflated, cache=False).events == events


def test_a_big_gzip_cut_short_keeps_what_is_whole(tmp_path: Path) -> None:
    path, events = big(tmp_path)
    deflated = tmp_path / "big.json.gz"
    deflated.write_bytes(gzip.compress(path.read_bytes(), 0)[: -path.stat().st_size // 2])
    trace = read(deflated, cache=False)
    assert 0.4 * events < trace.events < 0.6 * events
    assert codes(trace)["truncated"] == 1


def test_without_stacks_frames_are_counted_and_gone() -> None:
    data = text(step(1, 0, 90), frame("a.py(1): f", 1, 50), op("aten::mm", 2, 5), frame("b.py(2): g", 60, 5))
    source = Source("frames.json", data)
    with_frames, without = decode(source), decode(source, stacks=False)
    assert (with_frames.events.count, without.events.count) == (4, 4)
    assert (len(with_frames.events.span), len(without.events.span)) == (4, 2)
    trace = assemble(without)
    assert (trace.events, [o.name for o in trace.ops]) == (4, ["aten::mm"])


def test_a_trace_of_frames_alone_without_them_is_an_empty_trace(tmp_path: Path) -> None:
    path = tmp_path / "frames.json"
    path.write_bytes(text(frame("a.py(1): f", 1, 50)))
    assert (read(path, stacks=False).events, len(read(path, stacks=False).ops)) == (1, 0)
