"""Events as the text that Kineto writes: JSON, times in microseconds with three decimals."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from rung.ladder.article import published
from rung.ladder.article.scene import Drawing
from rung.ladder.article.timeline import Event

CPU, STREAM = 1000, 7
LANES: dict[str, tuple[int | str, int | str]] = {
    "cpu": (CPU, CPU),
    "gpu": (0, STREAM),
    "profiler": ("Spans", "PyTorch Profiler"),
}
"""Process and thread of each lane."""

CLOCK_START_NS = 1_000_000_000
"""No real clock stands at 0: readers take that for a missing time."""

NOTE = "drawn from the article's published names and times, not recorded"


def render(drawing: Drawing, events: list[Event]) -> bytes:
    """A whole trace. The same drawing gives the same bytes."""
    lines = [*_names(), *(line for event in events for line in _event(event))]
    head = {
        "rung": _metadata(drawing, events),
        "schemaVersion": 1,
        "deviceProperties": [published.DEVICE],
        "record_shapes": 1,
        "displayTimeUnit": "ms",
    }
    members = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items())
    rows = ",\n".join(lines)
    return f'{{\n{members},\n"traceEvents": [\n{rows}\n]\n}}\n'.encode()


def _metadata(drawing: Drawing, events: list[Event]) -> dict[str, Any]:
    """As `rung.record` writes it, and what is not the article's: times (`unpublished`), parts of names."""
    names = dict.fromkeys(event.name for event in events)
    return {
        "schema_version": 1,
        "name": drawing.rung,
        "variant": drawing.variant,
        "region": drawing.region,
        "device": published.DEVICE["name"],
        "parameters": dict(drawing.parameters),
        "drawn": True,
        "source": drawing.source,
        "note": NOTE,
        "printed": list(drawing.printed),
        "unpublished": _unpublished(events),
        "completed_names": [name for name in names if name in published.COMPLETED],
    }


def _unpublished(events: list[Event]) -> list[str]:
    """Names whose time follows from a rule. Where an op bears its kernel's name, it is the kernel's time."""
    printed = {event.name for event in events if event.published}
    return list(dict.fromkeys(event.name for event in events if event.name not in printed))


def _names() -> Iterator[str]:
    for (process, thread), label, name in (
        (LANES["cpu"], "CPU", "thread 1000 (python)"),
        (LANES["gpu"], "GPU 0", "stream 7 "),
    ):
        yield _meta("process_name", process, 0, {"name": "python"})
        yield _meta("process_labels", process, 0, {"labels": label})
        yield _meta("thread_name", process, thread, {"name": name})


def _meta(name: str, process: int | str, thread: int | str, args: dict[str, str]) -> str:
    return _record({"ph": "M", "name": name, "pid": process, "tid": thread}, 0, None, {"args": args})


def _event(event: Event) -> Iterator[str]:
    """The span itself, and its end of the arrow from launch to work."""
    process, thread = LANES[event.lane]
    place = {"pid": process, "tid": thread}
    args = {"args": _args(event)}
    yield _record(
        {"ph": "X", "cat": event.category, "name": event.name} | place, event.start_ns, event.dur_ns, args
    )
    arrow = {"cat": "ac2g", "name": "ac2g", "id": event.correlation} | place
    if event.launches:
        yield _record({"ph": "s"} | arrow, event.start_ns, None, {})
    elif event.lane == "gpu" and event.correlation is not None:
        yield _record({"ph": "f", "bp": "e"} | arrow, event.start_ns, None, {})


def _args(event: Event) -> dict[str, Any]:
    where = {"device": 0, "context": 1, "stream": STREAM} if event.lane == "gpu" and event.correlation else {}
    ids = {"External id": event.op, "correlation": event.correlation}
    return {**{key: value for key, value in ids.items() if value is not None}, **where, **event.args}


def _record(head: dict[str, Any], start_ns: int, dur_ns: int | None, tail: dict[str, Any]) -> str:
    """One event as text; its times are written digit by digit, so that no float rounds them."""
    times = f'"ts": {_microseconds(CLOCK_START_NS + start_ns)}'
    if dur_ns is not None:
        times += f', "dur": {_microseconds(dur_ns)}'
    rest = f", {json.dumps(tail)[1:-1]}" if tail else ""
    return f"{json.dumps(head)[:-1]}, {times}{rest}}}"


def _microseconds(ns: int) -> str:
    return f"{ns // 1_000}.{ns % 1_000:03}"
