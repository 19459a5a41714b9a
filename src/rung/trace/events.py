"""What one event is, and how a damaged one is made whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import Raw

from rung.trace.repair import UNDECODABLE, Repair, is_utf8, repair_text

NO_ARGS = Raw(b"{}")


class Event(msgspec.Struct, gc=False):
    """One record of `traceEvents`. Times are microseconds, as written; `args` stays text until asked for.

    Members are looked for in this order, which is Kineto's; any other takes a tenth longer.
    """

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: int | str | None = None
    tid: int | str | None = None
    ts: int | float | None = None
    dur: int | float | None = None
    args: Raw = NO_ARGS
    id: int | str | None = None


class UsualEvent(Event, gc=False):
    """The same with phases and categories that Kineto writes: the events that have one share its string."""

    ph: Literal["", "X", "B", "E", "s", "t", "f", "i", "I", "C", "M"] = ""
    cat: Literal[
        "",
        "cpu_op",
        "cpu_instant_event",
        "python_function",
        "user_annotation",
        "gpu_user_annotation",
        "cuda_runtime",
        "cuda_driver",
        "cuda_sync",
        "mtia_runtime",
        "mtia_ccp_events",
        "xpu_runtime",
        "privateuse1_runtime",
        "kernel",
        "gpu_memcpy",
        "gpu_memset",
        "ac2g",
        "fwdbwd",
        "async",
        "async_cpu_to_gpu",
        "overhead",
        "Trace",
        "Operator",
        "Runtime",
        "Kernel",
        "Memcpy",
        "Memset",
    ] = ""


_EVENT = msgspec.json.Decoder(Event)
_EVENTS = msgspec.json.Decoder(list[Event])
_USUAL_EVENTS = msgspec.json.Decoder(list[UsualEvent])


def decode_events(text: bytes) -> Sequence[Event]:
    """The events of a JSON list. Words known beforehand are neither made nor hashed anew: a tenth less to do.

    Raises:
        msgspec.DecodeError: the text is damaged, or no list of events.
    """
    try:
        return _USUAL_EVENTS.decode(text)
    except msgspec.ValidationError:  # another recorder's words, or what is no event
        return _EVENTS.decode(text)


def event_in(text: bytes) -> Event | None:
    """The event that the text is; None if strict decoding would not take it as it stands."""
    try:
        event = _EVENT.decode(text)
    except UNDECODABLE:
        return None
    return event if is_utf8(text) else None  # the decoder passes over strings that it does not need


def mend(text: bytes) -> tuple[Event, Repair] | None:
    """The event that a damaged text stands for, and the text made whole; None where that would be a guess."""
    repair = repair_text(text)
    if event := event_in(repair.text):
        return event, repair
    try:
        members = msgspec.json.decode(repair.text, type=dict[str, Raw])
        fixed = msgspec.json.encode({key: _coerce(key, value) for key, value in members.items()})
    except UNDECODABLE:
        return None
    event = event_in(fixed)
    return (event, Repair(fixed, {**repair.damage, "bad-field": 0})) if event else None


def _coerce(key: str, raw: Raw) -> Raw:
    """The member's text if its type is right, else the nearest text whose type is: `"12.5"` -> `12.5`."""
    value = msgspec.json.decode(raw)
    match key:
        case "ph" | "name" | "cat" if not isinstance(value, str):
            return _encode("" if value is None else str(value))
        case "pid" | "tid" | "id" if not isinstance(value, int | str | None) or isinstance(value, bool):
            return _encode(str(value))
        case "ts" | "dur" if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
            return Raw(value.strip().encode())
        case "ts" | "dur" if not isinstance(value, int | float) or isinstance(value, bool):
            return Raw(b"null")
    return raw


_NUMBER = re.compile(r"-?(0|[1-9]\d{0,17})(\.\d{1,9})?")


def _encode(value: str) -> Raw:
    return Raw(msgspec.json.encode(value))


def decode_args(raw: Raw | bytes) -> dict[str, Any]:
    """An event's `args`; what strict decoding passed over unread is repaired if it must be, else left out."""
    try:
        args = _decoded(raw)
    except UNDECODABLE:
        args = None
    return args if isinstance(args, dict) else {}


def _decoded(raw: Raw | bytes) -> Any:
    try:
        return msgspec.json.decode(raw)
    except UNDECODABLE:
        return msgspec.json.decode(repair_text(bytes(raw)).text)
