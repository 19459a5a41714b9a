"""An event's text with some of its members changed; the rest stays to the letter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Raw

from rung.trace import clock

Members = dict[str, Any]

_MEMBERS = msgspec.json.Decoder(dict[str, Raw])
IDS = ("correlation", "External id", "external id", "Record function id", "Ev Idx")
"""Arguments that tie events of one recording to one another."""


def rewritten(text: bytes, *changes: Callable[[Members], None]) -> bytes:
    """The event after each change in turn."""
    members: Members = dict(_MEMBERS.decode(text))
    for change in changes:
        change(members)
    return msgspec.json.encode(members)


def with_duration(ns: int) -> Callable[[Members], None]:
    def change(members: Members) -> None:
        members["dur"] = microseconds(ns)

    return change


def beside(place: int) -> Callable[[Members], None]:
    """To the track of that number beside its own."""

    def change(members: Members) -> None:
        tid = msgspec.json.decode(members.get("tid", Raw(b"0")))
        members["tid"] = f"{tid} overlapping {place}"

    return change


def microseconds(ns: int) -> Raw:
    """ns as Kineto writes times, three decimals, exact."""
    sign, ns = ("-", -ns) if ns < 0 else ("", ns)
    return Raw(f"{sign}{ns // 1000}.{ns % 1000:03d}".encode())


@dataclass(frozen=True, slots=True)
class Apart:
    """Keeps one recording's ids apart from another's in the same file: `number` counts recordings from 0,
    `shift_ns` moves its clock."""

    number: int
    label: str
    shift_ns: int

    def __call__(self, members: Members) -> None:
        """Processes, flows, correlations and times of one event."""
        if "ts" in members and self.shift_ns:
            at = clock.from_text(bytes(members["ts"]).decode("ascii", "replace"))
            if at != clock.NO_TIME:
                members["ts"] = microseconds(at + self.shift_ns)
        pid = msgspec.json.decode(members["pid"]) if "pid" in members else None
        if pid is not None:
            members["pid"] = self._process(pid)
        if "id" in members:
            members["id"] = f"{self.number}:{msgspec.json.decode(members['id'])}"
        if "args" in members:
            members["args"] = self._arguments(members)

    def _process(self, pid: int | str) -> int | str:
        """Kineto's processes are numbers, devices among them, and names such as "Spans"."""
        return pid + self.number * FAR if isinstance(pid, int) else f"{pid} ({self.label})"

    def _arguments(self, members: Members) -> Any:
        raw = members["args"]
        if b'"' not in bytes(raw):
            return raw
        try:
            args: Members = dict(_MEMBERS.decode(raw))
        except msgspec.DecodeError:
            return raw
        if "stream" in args:
            args["stream"] = f"{msgspec.json.decode(args['stream'])} ({self.label})"
        for key in IDS:
            if key in args and isinstance(value := msgspec.json.decode(args[key]), int) and value > 0:
                args[key] = value + self.number * FAR
        if bytes(members.get("name", b"")) == b'"process_name"' and "name" in args:
            args["name"] = f"{self.label}: {msgspec.json.decode(args['name'])}"
        return args


FAR = 10_000_000_000
"""Above any process id (4194304 at most on Linux) and any correlation of a recording."""
