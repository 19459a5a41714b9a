"""What a trace file says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from rung import units
from rung.show.fitting import Phrases
from rung.show.plain import plain
from rung.trace import Header

LONGEST = 120
"""Characters of a member's value that are shown."""


def page(path: str, header: Header, whole: bool) -> RenderableType:
    return Group(*_lines(path, header, whole))


def _lines(path: str, header: Header, whole: bool) -> Iterator[RenderableType]:
    rank = f"rank {header.rank}" if header.rank is not None else ""
    yield Phrases(plain(path, "bold"), plain(header.device or "device not named"), Text(rank))
    for device in header.device_properties:
        memory = device.get("totalGlobalMem")
        size = units.size(memory) if isinstance(memory, int) else ""
        yield Phrases(plain(f"  device {device.get('id')}"), plain(str(device.get("name"))), Text(size))
    for key, value in header.metadata.items():
        if key == "deviceProperties":
            continue
        if isinstance(value, dict):
            yield plain(f"  {key}")
            yield from (plain(f"    {name}: {_short(inner)}") for name, inner in value.items())
        else:
            yield plain(f"  {key}: {_short(value)}")
    if not whole:
        yield Text("  members behind the events were not looked for: the file is deflated", style="dim")


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def as_json(path: str, header: Header, whole: bool) -> dict[str, Any]:
    """`rung read --header --json`; `whole` is false where members behind the events were not looked for."""
    return {
        "trace": {"path": path, "device": header.device, "rank": header.rank},
        "header": header.metadata,
        "whole": whole,
    }
