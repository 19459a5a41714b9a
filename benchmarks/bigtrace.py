"""Make a big trace of a real one: copies of its events behind one another, with times and ids shifted.

Every copy is whole, with arrows, correlations and steps of its own: the result is as valid as the original.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

IDS = ("correlation", "External id", "Ev Idx", "Sequence number", "Python id", "Python parent id")
GAP_NS = 1_000_000
"""Between two copies."""


class Copies:
    """The events of a trace as a template: text with holes, and what goes into the holes of each copy."""

    def __init__(self, source: Path, most: int | None = None) -> None:
        """Of the `most` events that begin first; of all where it is None."""
        opened = gzip.open if source.suffix == ".gz" else open
        with opened(source, "rb") as file:
            trace: dict[str, Any] = json.load(file)
        events = [e for e in trace.pop("traceEvents") if "ts" in e and e["ph"] != "M"]
        events = sorted(events, key=lambda e: e["ts"])[:most] if most else events
        self.head = trace
        self._holes: list[tuple[bool, int]] = []
        self.events = len(events)
        self._whole = all(isinstance(event["ts"], int) for event in events)
        self._template = ",\n".join(self._with_holes(event) for event in events)
        starts = [_ns(e["ts"]) for e in events if e["ph"] == "X"]
        ends = [_ns(e["ts"]) + _ns(e.get("dur", 0)) for e in events if e["ph"] == "X"]
        self._period = max(ends) - min(starts) + GAP_NS
        self._id_period = max(value for is_time, value in self._holes if not is_time) + 1

    def _with_holes(self, event: dict[str, Any]) -> str:
        event = {**event, "args": dict(event.get("args", {}))}
        self._holes.append((True, _ns(event["ts"])))
        event["ts"] = "@time@"
        found = [(event, "id")] if isinstance(event.get("id"), int) else []
        found += [(event["args"], key) for key in IDS if isinstance(event["args"].get(key), int)]
        for where, key in found:
            self._holes.append((False, where[key]))
            where[key] = "@id@"
        order = ("ph", "cat", "name", "pid", "tid", "ts", "dur", "id", "bp", "s")
        line = {key: event[key] for key in order if key in event}
        text = json.dumps(line)[:-1] + ',\n    "args": ' + json.dumps(event["args"]) + "\n  }"
        return "  " + text.replace("%", "%%").replace('"@time@"', "%s").replace('"@id@"', "%s")

    def copy(self, number: int) -> str:
        """The text of the copy of this number."""
        time, identity = number * self._period, number * self._id_period
        return self._template % tuple(
            self._time(value + time) if is_time else value + identity if value else 0
            for is_time, value in self._holes
        )

    def _time(self, ns: int) -> str:
        """As the source writes its times: whole microseconds, or three decimals."""
        return str(ns // 1000) if self._whole else f"{ns // 1000}.{ns % 1000:03}"

    def text(self, copies: int) -> Iterator[bytes]:
        """A whole trace in pieces."""
        yield json.dumps(self.head)[:-1].encode() + b', "traceEvents": [\n'
        for number in range(copies):
            yield (",\n" * bool(number) + self.copy(number)).encode()
        yield b'\n], "traceName": "big.json"}\n'


def _ns(us: float) -> int:
    return round(us * 1000)


def write(path: Path, copies: Copies, times: int) -> None:
    """Write so many copies, deflated (quickly) if the name ends in `.gz`."""
    with gzip.open(path, "wb", compresslevel=4) if path.suffix == ".gz" else path.open("wb") as file:
        for piece in copies.text(times):
            file.write(piece)
