"""Damage: whatever was cut, torn or garbled, every event that is whole is kept as it is."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rung.errors import UnreadableTraceError
from rung.trace import DAMAGE, Trace
from rung.trace.assemble import assemble
from rung.trace.document import decode
from rung.trace.source import load
from tracelib import Event, codes, document, kernel, launch, op, read_bytes, step, text

EVENTS: list[Event] = [
    step(1, 0, 100),
    op("aten::mm", 10, 30, **{"Input Dims": [[2, 3], [3, 4]], "note": 'a "quoted" [bracket] }, {"ph": "X"'}),
    launch(20, 5, 11),
    kernel("void at::native::f<float>(int, {lambda})", 30, 20, 11),
]


def kept(trace: Trace) -> list[str]:
    kernels = [] if trace.stand_in else [*trace.kernels]
    return [*(s.name for s in trace.steps), *(v.name for v in [*trace.ops, *trace.launches, *kernels])]


NAMES = ["ProfilerStep#1", "aten::mm", "cudaLaunchKernel", "void at::native::f<float>(int, {lambda})"]


def ends_of_events(data: bytes) -> list[int]:
    """Where the text of each event ends."""
    ends, position = [], data.index(b'"traceEvents"')
    for event in EVENTS:
        whole = json.dumps(event).encode()
        position = data.index(whole, position) + len(whole)
        ends.append(position)
    return ends


def test_a_cut_at_every_byte() -> None:
    data = json.dumps({**document(*EVENTS), "traceName": "x"}).encode()
    ends = ends_of_events(data)
    for cut in range(1, len(data)):
        whole = sum(end <= cut for end in ends)
        if not whole:
            with pytest.raises(UnreadableTraceError):
                read_bytes(data[:cut])
            continue
        trace = read_bytes(data[:cut])
        assert kept(trace) == NAMES[:whole]
        assert trace.events == whole
        torn = (
            data[ends[whole - 1] : cut].strip(b" ,]") and cut < len(data) - 1
        )  # a missing bracket is no damage
        assert ("truncated" in codes(trace)) == bool(torn)
        assert trace.skipped_events == trace.repaired_events == 0


def test_a_cut_gzip_stream_at_every_byte(tmp_path: Path) -> None:
    data = text(*EVENTS)
    ends = ends_of_events(data)
    packed = gzip.compress(data)
    path = tmp_path / "cut.json.gz"
    for cut in range(2, len(packed)):
        path.write_bytes(packed[:cut])
        inflated = zlib.decompressobj(31).decompress(packed[:cut])
        whole = sum(end <= len(inflated) for end in ends)
        if not whole:
            with pytest.raises(UnreadableTraceError):
                assemble(decode(load(path)))
            continue
        trace = assemble(decode(load(path)))
        assert kept(trace) == NAMES[:whole]
        assert codes(trace)["truncated"] == 1


def in_strings(data: bytes) -> list[int]:
    """The bytes of the names' texts, where damage must stay inside one string."""
    places = [data.index(json.dumps(name).encode()) + 1 for name in NAMES]
    return [
        at for start, name in zip(places, NAMES, strict=True) for at in range(start, start + len(name) + 1)
    ]


DATA = text(*EVENTS)
BYTES = {
    b"\x01": "control-character",
    b"\x00": "control-character",
    b"\n": "control-character",
    b"\\c": "bad-escape",
    b"\\ud800": "bad-escape",
    b"\\u1x": "bad-escape",
    b"\xff": "bad-utf8",
    b"\xc3(": "bad-utf8",
}


@pytest.mark.parametrize("damage", BYTES)
@given(at=st.sampled_from(in_strings(DATA)))
def test_damage_in_a_string_stays_in_its_event(damage: bytes, at: int) -> None:
    trace = read_bytes(DATA[:at] + damage + DATA[at:])
    assert (trace.events, trace.skipped_events, trace.repaired_events) == (4, 0, 1)
    (warning,) = [w for w in trace.warnings if w.code in DAMAGE]
    assert (warning.code, warning.count, warning.offset) == (BYTES[damage], 1, at)
    hurt = sum(at > DATA.index(json.dumps(name).encode()) for name in NAMES) - 1
    assert {name for i, name in enumerate(NAMES) if i != hurt} <= set(kept(trace))


@pytest.mark.parametrize(
    "number", [b"inf", b"-inf", b"nan", b"NaN", b"-Infinity", b"-nan(ind)", b"1.#QNAN", b"1e999"]
)
@pytest.mark.parametrize("event", range(4))
def test_what_is_no_number_is_null(number: bytes, event: int) -> None:
    hurt = json.loads(json.dumps(EVENTS))
    hurt[event]["args"]["bandwidth"] = "HERE"
    data = text(*hurt).replace(b'"HERE"', number)
    trace = read_bytes(data)
    assert kept(trace) == NAMES
    for view in [*trace.ops, *trace.kernels]:
        assert view.args.get("bandwidth") is None


def test_no_number_in_a_time_makes_it_unfinished() -> None:
    trace = read_bytes(text(*EVENTS).replace(b'"dur": 20', b'"dur": inf'))
    assert codes(trace)["bad-number"] == 1
    assert codes(trace)["unfinished-event"] == 1
    assert trace.kernels[0].dur_ns == 0


def test_words_like_inf_in_strings_are_text() -> None:
    events = [op("nan inf -Infinity 1e999", 0, 1), op("torn\x01", 5, 1)]
    trace = read_bytes(text(*events).replace(b"\\u0001", b"\x01"))
    assert [o.name for o in trace.ops] == ["nan inf -Infinity 1e999", "torn\x01"]


@pytest.mark.parametrize("event", range(4))
def test_a_torn_event_goes_alone(event: int) -> None:
    name = json.dumps(NAMES[event]).encode()
    trace = read_bytes(DATA.replace(name, name[:-3] + b'"\n' + name[-3:], 1))
    assert kept(trace) == [n for i, n in enumerate(NAMES) if i != event]
    assert (trace.skipped_events, trace.events) == (1, 3)
    assert codes(trace)["skipped-event"] == 1
    assert "truncated" not in codes(trace)


def test_a_torn_last_event_does_not_take_the_header_with_it() -> None:
    whole = json.dumps({**document(*EVENTS), "traceName": "kept"}).encode()
    trace = read_bytes(whole.replace(b"{lambda}", b'"'))
    assert trace.header.get("traceName") == "kept"
    assert codes(trace)["skipped-event"] == 1


def test_a_damaged_header_is_kept_as_far_as_it_can_be() -> None:
    data = text(*EVENTS, driver="C:\\cuda").replace(b"C:\\\\cuda", b"C:\\cuda\x02")
    trace = read_bytes(data)
    assert trace.header.get("driver") == "C:\\cuda\x02"
    assert trace.device == "Test GPU"
    assert codes(trace)["bad-escape"] == codes(trace)["control-character"] == 1
    lost = read_bytes(data.replace(b"C:", b'"'))
    assert (lost.device, kept(lost)) == (None, NAMES)
    assert codes(lost)["bad-field"] == 1


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        (b'"ts": "30.5"', 30_500),
        (b'"ts": " 30 "', 30_000),
    ],
)
def test_a_time_in_quotes_is_a_time(written: bytes, read_as: int) -> None:
    trace = read_bytes(DATA.replace(b'"ts": 30', written))
    assert trace.kernels[0].start_ns == read_as
    assert codes(trace)["bad-field"] == 1


@pytest.mark.parametrize("value", [b"true", b'"soon"', b"[1]", b'{"a": 1}'])
def test_a_time_that_is_none_is_missing(value: bytes) -> None:
    trace = read_bytes(DATA.replace(b'"ts": 30', b'"ts": ' + value))
    assert kept(trace) == NAMES
    assert codes(trace) == {"bad-field": 1, "zero-time": 1}


@pytest.mark.parametrize("stranger", [b"5", b"null", b'"x"', b"[1, 2]", b"true", b"[]"])
@pytest.mark.parametrize("place", range(5))
def test_what_is_no_event_is_skipped(stranger: bytes, place: int) -> None:
    texts = [json.dumps(event).encode() for event in EVENTS]
    texts.insert(place, stranger)
    trace = read_bytes(b'{"traceEvents": [' + b", ".join(texts) + b'], "traceName": "kept"}')
    assert kept(trace) == NAMES
    assert trace.skipped_events == 1
    assert trace.header.get("traceName") == "kept"


def test_an_event_full_of_events_is_one_event() -> None:
    nested = op("outer", 5, 2, frames=[{"name": f"f{i}", "ph": "X"} for i in range(100)])
    data = text(nested, *EVENTS).replace(b"aten::mm", b"aten::\x01mm")
    trace = read_bytes(data)
    assert (trace.events, trace.skipped_events) == (5, 0)
    assert [len(o.args.get("frames", [])) for o in trace.ops] == [100, 0]


def test_a_file_that_was_never_finished_ends_in_zeros() -> None:
    written = DATA[: DATA.index(b'"ts": 30')]
    trace = read_bytes(written + bytes(4096))
    assert kept(trace) == NAMES[:3]
    assert [(w.count, w.offset) for w in trace.warnings if w.code == "truncated"] == [(1, len(written))]


def test_text_behind_the_end_is_no_matter() -> None:
    trace = read_bytes(DATA + b"\nDone.\n")
    assert kept(trace) == NAMES
    assert trace.incomplete is None
