"""The tolerant second pass: the events of a damaged trace.

Every intact event is kept as it is. A damaged one is repaired where its meaning is certain (control bytes,
bad UTF-8, lone backslashes, `inf` and `nan`, quoted times); otherwise it is skipped and the next event
boundary is looked for. Nothing is guessed, everything is counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice

from msgspec import Raw

from rung.trace.events import Event, event_in, mend
from rung.trace.header import header_around, members_in
from rung.trace.warnings import Code, Warning
from rung.trace.writers import second_writer


@dataclass(slots=True)
class Salvaged:
    """The events that are left, the text of each, the header's members, and what it took."""

    events: list[Event] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    header: dict[str, Raw] = field(default_factory=dict)
    skipped: int = 0
    repaired: int = 0
    breaks: list[tuple[int, int]] = field(default_factory=list)
    """Where something was skipped: the number of events kept before it, and its byte."""
    damage: dict[Code, tuple[int, int]] = field(default_factory=dict)
    """How many events each kind of damage hit, and the first byte it hit."""

    def note(self, code: Code, offset: int) -> None:
        count, first = self.damage.get(code, (0, offset))
        self.damage[code] = (count + 1, first)

    def skip(self, offset: int) -> None:
        self.skipped += 1
        self.breaks.append((len(self.events), offset))
        self.note("skipped-event", offset)

    @property
    def warnings(self) -> list[Warning]:
        return [Warning(code, count, at, _MESSAGES[code]) for code, (count, at) in self.damage.items()]


_MESSAGES: dict[Code, str] = {
    "control-character": "events with raw control bytes in a string, kept as \\u escapes",
    "bad-utf8": "events with bytes that are not UTF-8, kept as \\x escapes",
    "bad-escape": "events with lone backslashes, taken literally (\\t, \\n, \\b or \\u may be meant so too)",
    "bad-number": "events with inf or nan where a number belongs, read as null",
    "bad-field": "events or header members of the wrong type, converted or emptied",
    "skipped-event": "events whose text could not be repaired, left out",
    "truncated": "the file ends in the middle: what came before is used",
    "two-writers": "two processes wrote this file at once: every intact event of both is kept",
}

DEEPEST = 32
"""Levels of nesting that an event may have; a flood of opening brackets is not followed further."""

_OPENING = re.compile(rb'"traceEvents"\s*:\s*\[')
_TOKEN = re.compile(rb'\s*("(?:[^"\\]++|\\.)*+"|[{}\[\],:]|[^\s"{}\[\],:]++)', re.DOTALL)
_START = re.compile(rb'\{\s*"(?:ph|name|cat|pid|tid|ts|dur|id|args|bp|s)"\s*:')
_NEXT = re.compile(rb",\s*(?=" + _START.pattern + rb")")
_CONTENT = re.compile(rb"[^\s,]")
_TAIL = re.compile(rb'\s*(?:\}|,\s*(?:"|$)|$)')
_SEPARATED = re.compile(rb"\s*(?:[,\]{]|$)")


def salvage(data: bytes, cut: bool = False) -> Salvaged | None:
    """Events and header of a damaged trace; None when not one whole event is found.

    `cut` says that the text was cut off already before it came here (a gzip stream without its end).
    """
    whole = len(data)
    data = data.rstrip(b"\0")  # what a file system leaves of a file that was never finished
    opening = None if data.lstrip()[:1] == b"[" else _OPENING.search(data)
    start = opening.end() if opening else data.find(b"[") + 1
    if not start or (opening is None and data[: start - 1].strip()):
        return None
    found = Salvaged()
    end = _events(data, start, found)
    if not found.events:
        return None
    if opening:
        found.header, damage = header_around(data, opening.start(), end)
        for code, at in damage:
            found.note(code, at)
    if (cut or len(data) < whole) and "truncated" not in found.damage:
        found.note("truncated", len(data))
    if (offset := second_writer(found.events, found.breaks)) is not None:
        found.note("two-writers", offset)
    return found


def _events(data: bytes, position: int, found: Salvaged) -> int:
    """Collect events from `position` on; returns where their list ends."""
    lost = False  # whether what was last met was damaged, so that an object need not be an event
    following: int | None = position  # where the event after the next is announced, None if it is not
    while True:
        content = _CONTENT.search(data, position)
        position = content.start() if content else len(data)
        if not content or (content.group() == b"]" and _ends(data, position)):
            return position
        if following is not None and following <= position:
            announced = _NEXT.search(data, position + 1)
            following = announced.start() if announced else None
        end = _take(data, position, following, found, lost)
        if end is not None:
            position, lost = end, False
            continue
        beyond = _beyond(data, position)
        if beyond is None:
            found.note("truncated", len(data))
            return len(data)
        if not (lost and _is_json(data, position)):
            found.skip(position)
        position, lost = beyond, True


def _take(data: bytes, start: int, following: int | None, found: Salvaged, lost: bool) -> int | None:
    """Keep the event at `start`, repaired if need be, and return where it ends; None if there is no event.

    It nearly always ends where the `following` one is announced, which is cheaper than to look for its end.
    """
    if data[start] != ord("{"):
        return None
    end = following
    event = event_in(data[start:end]) if end else None
    if event is None:
        end = _end_of_object(data, start)
        event = event_in(data[start:end]) if end else None
    if end is None:
        return None
    repair = None
    if event is None and (mended := mend(data[start:end])):
        event, repair = mended
    if event is None or (lost and not event.ph) or _is_torn(data, end, event):
        return None
    if repair:
        found.repaired += 1
        for code, at in repair.damage.items():
            found.note(code, start + at)
    found.events.append(event)
    found.texts.append(repair.text if repair else data[start:end])
    return end


def _is_torn(data: bytes, end: int, event: Event) -> bool:
    """Whether a stray quote let an event end early: it has no time yet, and more of it follows."""
    return event.ts is None and not _SEPARATED.match(data, end)


def _end_of_object(data: bytes, start: int) -> int | None:
    """Where the object at `start` closes; None if it is torn.

    A stray quote turns all that follows inside out. Then a string soon stands beside another value with
    nothing between them, so that a torn event does not cost a look at the whole file.
    """
    depth, position, after_value = 0, start, False
    for token in _TOKEN.finditer(data, start):
        mark = token[1][:1]
        if token.start() != position or (after_value and mark not in b",:}]"):
            return None
        depth += (mark in b"{[") - (mark in b"}]")
        if depth == 0:
            return token.end()
        if depth > DEEPEST:
            return None
        position, after_value = token.end(), mark not in b"{[,:"
    return None


def _is_json(data: bytes, start: int) -> bool:
    """Whether a sound object begins here: a piece of a damaged event, or of a second header."""
    end = _end_of_object(data, start) if data[start] == ord("{") else None
    return end is not None and event_in(data[start:end]) is not None


def _beyond(data: bytes, damaged: int) -> int | None:
    """Where to go on after damage: where the next event may start, or the bracket that closes the list."""
    start = _START.search(data, damaged + 1)
    if start:
        return start.start()
    bracket = rb"\}\s*(\])" if data[damaged] == ord("{") else rb"(\])"
    found = [m.start(1) for m in re.finditer(bracket, data[damaged:])][-8:]
    return next((damaged + at for at in found if members_in(data[damaged + at + 1 :]) is not None), None)


def _ends(data: bytes, bracket: int) -> bool:
    """Whether the list of events ends with this bracket: nothing but the rest of a header follows."""
    if _TAIL.match(data, bracket + 1) and members_in(data[bracket + 1 :]) is not None:
        return True
    return not any(_is_event(data, start.start()) for start in islice(_START.finditer(data, bracket), 64))


def _is_event(data: bytes, start: int) -> bool:
    end = _end_of_object(data, start)
    event = event_in(data[start:end]) if end else None
    return bool(event and event.ph)
