"""The tolerant second pass: repair the text of a damaged trace, so that the strict decoder can read it.

Every intact event is kept as it is. A damaged one is repaired where its meaning is certain (control bytes, bad
UTF-8, lone backslashes, `inf` and `nan`, quoted times); otherwise it is skipped and the next event boundary is
looked for. Nothing is guessed, everything is counted.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import msgspec

from rung.trace.warnings import Code, Warning


@dataclass(frozen=True, slots=True)
class Salvaged:
    """Valid JSON: a list of events and an object of the header's members; and what it took."""

    events: bytes
    header: bytes
    warnings: tuple[Warning, ...]
    skipped: int
    repaired: int


@dataclass(frozen=True, slots=True)
class Repair:
    """A piece of JSON text after repair, and the kinds of damage it had."""

    text: bytes
    damage: tuple[Code, ...]


def is_utf8(data: bytes, chunk: int = 1 << 20) -> bool:
    """Whether the bytes are UTF-8 throughout, checked in chunks so that no copy of a big file is made."""
    if data.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), chunk):
            decoder.decode(data[start : start + chunk])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def repair(data: bytes, cut: bool = False) -> Salvaged | None:
    """Events and header of a damaged trace; None when not one whole event is found.

    `cut` says that the text was cut off already before it came here (a gzip stream without its end).
    """
    opening = _OPENING.search(data)
    bare = data.lstrip()[:1] == b"["
    if opening is None and not bare:
        return None
    start = data.index(b"[") + 1 if bare or opening is None else opening.end()
    scan = _Scan(data)
    end = scan.events(start)
    if not scan.kept:
        return None
    if cut and not any(w == "truncated" for w in scan.damage):
        scan.note("truncated", len(data))
    header = b"{}" if bare or opening is None else scan.header(data[: opening.start()], data[end:])
    return Salvaged(b"[" + b",".join(scan.kept) + b"]", header, scan.warnings(), scan.skipped, scan.repaired)


_OPENING = re.compile(rb'"traceEvents"\s*:\s*\[')
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
_BOUNDARY = re.compile(rb'[,\[]\s*(?=\{\s*"(?:ph|name|cat|pid|tid|ts|dur|id|args)"\s*:)')
_GAP = re.compile(rb"[\s,]*")

_MESSAGES: dict[Code, str] = {
    "control-character": "raw control bytes in strings, kept as \\u escapes",
    "bad-utf8": "bytes that are not UTF-8, kept as \\x escapes",
    "bad-escape": "lone backslashes, taken literally (\\t, \\n, \\b and \\u in such a path stay ambiguous)",
    "bad-number": "inf or nan where a number belongs, read as null",
    "bad-field": "fields of the wrong type, converted or emptied",
    "skipped-event": "events whose text could not be repaired, left out",
    "truncated": "the file ends in the middle: what came before is used",
}


@dataclass(slots=True)
class _Scan:
    """One pass over the list of events."""

    data: bytes
    kept: list[bytes] = field(default_factory=list)
    skipped: int = 0
    repaired: int = 0
    damage: dict[Code, tuple[int, int]] = field(default_factory=dict)

    def note(self, code: Code, offset: int) -> None:
        count, first = self.damage.get(code, (0, offset))
        self.damage[code] = (count + 1, first)

    def warnings(self) -> tuple[Warning, ...]:
        return tuple(Warning(c, n, at, _MESSAGES[c]) for c, (n, at) in self.damage.items())

    def events(self, position: int) -> int:
        """Collect events from `position` on; returns where the list ends."""
        data = self.data
        while True:
            position = _GAP.match(data, position).end()  # type: ignore[union-attr]
            if position >= len(data) or data[position : position + 1] == b"]":
                return position
            end = _end_of_object(data, position)
            if end is not None and self._keep(position, end):
                position = end
                continue
            boundary = _BOUNDARY.search(data, position + 1)
            if boundary is None:
                self._give_up(position, end)
                return len(data)
            self.skipped += 1
            self.note("skipped-event", position)
            position = boundary.end()

    def _give_up(self, position: int, end: int | None) -> None:
        if end is None:
            self.note("truncated", len(self.data))
        else:
            self.skipped += 1
            self.note("skipped-event", position)

    def _keep(self, start: int, end: int) -> bool:
        text = self.data[start:end]
        damage: tuple[Code, ...] = ()
        if not _is_event(text):
            text, damage = _mend(text)
            if not damage:
                return False
            self.repaired += 1
            for code in damage:
                self.note(code, start)
        self.kept.append(text)
        return True

    def header(self, before: bytes, after: bytes) -> bytes:
        """The members around the list of events, as one object; empty where they cannot be read."""
        members: dict[str, Any] = {}
        head = before.rstrip().rstrip(b",") + b"}"
        tail = b"{" + after.lstrip().removeprefix(b"]").lstrip().lstrip(b",")
        for part in (head, tail, tail.rstrip() + b"}"):
            mended = repair_text(part)
            try:
                members |= msgspec.json.decode(mended.text, type=dict[str, msgspec.Raw])
            except msgspec.DecodeError:
                continue
            for code in mended.damage:
                self.note(code, 0)
        return msgspec.json.encode(members)


def _end_of_object(data: bytes, start: int) -> int | None:
    """Where the object at `start` closes; None when it does not within the next few event boundaries.

    A stray quote turns the rest of the file inside out; without the limit each one would cost a scan to its end.
    """
    boundaries = [b.start() for b in islice(_BOUNDARY.finditer(data, start + 1), 4)]
    depth = 0
    for token in _TOKEN.finditer(data, start, boundaries[3] + 1 if len(boundaries) == 4 else len(data)):
        mark = token.group()[:1]
        if mark in b"{[":
            depth += 1
        elif mark in b"}]":
            depth -= 1
            if depth <= 0:
                return token.end()
    return None


class _Probe(msgspec.Struct):
    """What an event must be to pass the strict decoder unchanged."""

    ph: str
    name: str = ""
    cat: str = ""
    ts: int | float | None = None
    dur: int | float | None = None
    pid: int | str | None = None
    tid: int | str | None = None
    id: int | str | None = None
    args: Any = None


_PROBE = msgspec.json.Decoder(_Probe)


def _is_event(text: bytes) -> bool:
    try:
        _PROBE.decode(text)
    except msgspec.DecodeError:
        return False
    return text.isascii() or is_utf8(text)


def _mend(text: bytes) -> tuple[bytes, tuple[Code, ...]]:
    """The event's text made whole, and what was wrong; no codes when it cannot be made whole."""
    mended = repair_text(text)
    if mended.damage and _is_event(mended.text):
        return mended.text, mended.damage
    try:
        members = msgspec.json.decode(mended.text, type=dict[str, msgspec.Raw])
    except msgspec.DecodeError:
        return text, ()
    fixed = msgspec.json.encode({key: _coerce(key, value) for key, value in members.items()})
    return (fixed, (*mended.damage, "bad-field")) if _is_event(fixed) else (text, ())


def _coerce(key: str, raw: msgspec.Raw) -> msgspec.Raw:
    """The member's text if its type is right, else the nearest text whose type is: `"12.5"` -> `12.5`."""
    value = msgspec.json.decode(raw)
    match key:
        case "name" | "cat" if not isinstance(value, str):
            return _encode("" if value is None else str(value))
        case "pid" | "tid" | "id" if not isinstance(value, int | str) or isinstance(value, bool):
            return _encode(str(value))
        case "ts" | "dur" if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
            return msgspec.Raw(value.strip())
        case "ts" | "dur" if not isinstance(value, int | float) or isinstance(value, bool):
            return msgspec.Raw(b"null")
    return raw


_NUMBER = re.compile(r"-?(0|[1-9]\d{0,17})(\.\d{1,9})?")


def _encode(value: str) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


_STRING_OR_NUMBER_WORD = re.compile(
    rb'"(?:[^"\\]|\\.)*"|-?\b(?:nan|inf(?:inity)?)\b', re.DOTALL | re.IGNORECASE
)
_CONTROL = re.compile(rb"[\x00-\x1f]")
_LONE_BACKSLASH = re.compile(rb'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|)')


def repair_text(text: bytes) -> Repair:
    """Make the strings and numbers of a piece of JSON valid, where their meaning is certain."""
    damage: list[Code] = []
    if not is_utf8(text):
        damage.append("bad-utf8")
        # `\xff` in a string would be a bad escape, so the backslash is doubled: distinct bytes stay distinct.
        text = text.decode("utf-8", "rung-hex").encode()

    def fix(match: re.Match[bytes]) -> bytes:
        token = match.group()
        if token[:1] != b'"':
            damage.append("bad-number")
            return b"null"
        return _fix_string(token, damage)

    text = _STRING_OR_NUMBER_WORD.sub(fix, text)
    return Repair(text, tuple(dict.fromkeys(damage)))


def _fix_string(token: bytes, damage: list[Code]) -> bytes:
    if _CONTROL.search(token):
        damage.append("control-character")
        token = _CONTROL.sub(lambda m: b"\\u%04x" % m.group()[0], token)
    fixed = _LONE_BACKSLASH.sub(lambda m: m.group() if m.group(1) else b"\\\\", token)
    if fixed != token:
        damage.append("bad-escape")
    return fixed


def _hex_escape(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    bad = error.object[error.start : error.end]
    return "".join(f"\\\\x{byte:02x}" for byte in bad), error.end


codecs.register_error("rung-hex", _hex_escape)
