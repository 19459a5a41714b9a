"""Copies and memsets: the device's own engines, known by the event's category, never by a kernel's name."""

from __future__ import annotations

import re
from typing import Any

from rung.names.decoded import Decoded

_COPY_CATEGORIES = ("gpu_memcpy", "memcpy")
_MEMSET_CATEGORIES = ("gpu_memset", "memset")
_KINETO_COPY = re.compile(
    r"Memcpy (?P<direction>[HDAP]to[HDAP])(?: \((?P<from>\w+) -> (?P<to>\w+)\))?(?P<rest>.*)"
)
_ROCM_COPY = re.compile(r"Copy(?P<from>Host|Device)To(?P<to>Host|Device)(?P<rest>.*)")
_MEMSET = re.compile(r"Memset(?: \((?P<memory>\w+)\))?(?P<rest>.*)")


def decode(name: str, category: str | None) -> Decoded | None:
    """A copy or memset by its category; without a category by the words Kineto writes."""
    if category in _COPY_CATEGORIES or (category is None and _KINETO_COPY.fullmatch(name)):
        fields, rest = _copy(name)
        return Decoded(name, "memcpy", "copy", fields, rest)
    if category in _MEMSET_CATEGORIES or (category is None and _MEMSET.fullmatch(name)):
        match = _MEMSET.fullmatch(name)
        if match is None:
            return Decoded(name, "memset", "memset", {}, _rest(name))
        memory = match["memory"]
        known = memory is not None and memory != "Unknown"
        return Decoded(name, "memset", "memset", {"to": memory} if known else {}, _rest(match["rest"]))
    if category == "mtia_ccp_events":
        return Decoded(name, "mtia", "other", {}, _rest(name))
    return None


def _copy(name: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    match = _KINETO_COPY.fullmatch(name)
    if match:
        fields = {"direction": match["direction"], "from": match["from"], "to": match["to"]}
        return {key: value for key, value in fields.items() if value}, _rest(match["rest"])
    match = _ROCM_COPY.fullmatch(name)
    if match:
        direction = f"{match['from'][0]}to{match['to'][0]}"
        return {"direction": direction, "from": match["from"], "to": match["to"]}, _rest(match["rest"])
    return {}, _rest(name)


def _rest(text: str) -> tuple[str, ...]:
    return (text.strip(),) if text.strip() else ()
