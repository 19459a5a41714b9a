"""The header of a damaged trace: the members before and behind its list of events."""

from __future__ import annotations

import json

import msgspec
from msgspec import Raw

from rung.trace.repair import UNDECODABLE, repair_text
from rung.trace.warnings import Code

_MEMBERS = msgspec.json.Decoder(dict[str, Raw])


def header_around(data: bytes, opening: int, end: int) -> tuple[dict[str, Raw], list[tuple[Code, int]]]:
    """The members around the events, as far as they are whole, and each kind of damage with its first byte.

    `opening` is where the events' own member begins, `end` the bracket that closes their list.
    """
    head = repair_text(data[:opening].rstrip().rstrip(b",") + b"}")
    tail = repair_text(data[end + 1 :])
    damage = [*head.damage.items(), *((code, end + 1 + at) for code, at in tail.damage.items())]
    members: dict[str, Raw] = {}
    try:
        members |= _MEMBERS.decode(head.text)
    except UNDECODABLE:
        damage.append(("bad-field", 0))
    behind = members_in(tail.text)
    if behind is None and not _is_closed(tail.text):
        damage.append(("truncated", len(data)))
    return members | (behind or {}), damage


def members_in(after: bytes) -> dict[str, Raw] | None:
    """The members behind the list of events; None if the text is not the end of an object."""
    text = b"{" + after.lstrip().removeprefix(b",")
    for closed in (text, text.rstrip().rstrip(b",") + b"}"):
        try:
            return _MEMBERS.decode(repair_text(closed).text)
        except UNDECODABLE:
            continue
    return None


def _is_closed(after: bytes) -> bool:
    """Whether the document ended and something else was appended."""
    text = after.decode("utf-8", "replace").lstrip().removeprefix(",")
    try:
        json.JSONDecoder().raw_decode("{" + text)
    except (ValueError, RecursionError):
        return False
    return True
