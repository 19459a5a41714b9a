"""Two processes that wrote one file at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rung.errors import UnreadableTraceError
from rung.trace import Trace, read
from rung.trace.assemble import assemble
from rung.trace.document import decode
from rung.trace.source import Source
from tracelib import Event, codes, kernel, launch, op, read_bytes, step, text


def rank(pid: int) -> list[Event]:
    cpu = [step(1, 0, 100), op("aten::mm", 10, 30), launch(20, 5, 11)]
    return [*({**event, "pid": pid} for event in cpu), kernel(f"of {pid}", 30, 20, 11)]


FIRST, SECOND = text(*rank(100)), text(*rank(200))
TORN = FIRST[: FIRST.index(b'"ts": 20') + 5]  # in the middle of the launch: two events are whole


def salvaged(data: bytes) -> Trace:
    return assemble(decode(Source("mixed.json", data), salvage=True))


MIXED = {
    "second after a torn event": TORN + SECOND[SECOND.index(b'{"ph"') :],
    "second from the middle of an event": TORN + SECOND[SECOND.index(b'"pid": 200') :],
    "a whole second file after a torn event": TORN + SECOND,
    "the second ended first, the tail of the first is left": SECOND + FIRST[FIRST.index(b'"aten::mm"') :],
}


@pytest.mark.parametrize("case", MIXED)
def test_two_writers_are_refused(case: str) -> None:
    with pytest.raises(UnreadableTraceError, match="two-writers") as caught:
        read_bytes(MIXED[case])
    assert caught.value.exit_code == 3
    assert "--salvage" in str(caught.value)


@pytest.mark.parametrize("case", MIXED)
def test_salvage_keeps_every_whole_event_of_both(case: str) -> None:
    data = MIXED[case]
    texts = [json.dumps(event).encode() for event in [*rank(100), *rank(200)]]
    trace = salvaged(data)
    assert trace.events == sum(data.count(one) for one in texts)
    assert codes(trace)["two-writers"] == 1
    assert trace.skipped_events >= 1
    assert trace.incomplete is not None
    assert "two-writers" in trace.incomplete


def test_the_byte_is_where_the_first_writer_was_torn() -> None:
    data = MIXED["second after a torn event"]
    (warning,) = [w for w in salvaged(data).warnings if w.code == "two-writers"]
    assert warning.offset == TORN.rindex(b'{"ph"')


def test_read_takes_salvage_as_a_keyword(tmp_path: Path) -> None:
    path = tmp_path / "mixed.json"
    path.write_bytes(MIXED["second after a torn event"])
    with pytest.raises(UnreadableTraceError, match=r"mixed\.json was written by two processes"):
        read(path)
    assert read(path, salvage=True).events == 6


def torn_between(before: list[Event], after: list[Event]) -> bytes:
    texts = [json.dumps(event) for event in before]
    return ("[" + ", ".join([*texts, '{"ph": "X", "name": "to"rn"}', *map(json.dumps, after)]) + "]").encode()


def test_an_earlier_process_that_returns_means_one_writer() -> None:
    trace = read_bytes(torn_between(rank(100), [*rank(200), *rank(100)]))
    assert trace.skipped_events == 1
    assert "two-writers" not in codes(trace)


def test_an_earlier_process_that_is_only_named_again_has_returned_too() -> None:
    name = {"ph": "M", "name": "process_name", "pid": 100, "args": {"name": "python"}}
    assert read_bytes(torn_between(rank(100), [*rank(200), name])).skipped_events == 1


def test_a_process_seen_before_means_one_writer() -> None:
    name = {"ph": "M", "name": "process_name", "pid": 200, "args": {"name": "python"}}
    assert read_bytes(torn_between([name, *rank(100)], rank(200))).skipped_events == 1


def test_without_damage_two_processes_are_a_merged_trace() -> None:
    trace = read_bytes(text(*rank(100), *rank(200)))
    assert (trace.events, trace.incomplete) == (8, None)


def test_device_events_after_damage_are_no_writer() -> None:
    trace = read_bytes(torn_between(rank(100), [kernel("k", 200, 1), kernel("l", 210, 1, device=1)]))
    assert "two-writers" not in codes(trace)
