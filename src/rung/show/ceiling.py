"""`rung climb ceiling`, in a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from rung import units
from rung.insight.ceilings import Ceiling
from rung.show.fitting import Unbroken, table
from rung.show.plain import plain


def page(
    measured: Ceiling, sheet: Ceiling | None, skipped: Mapping[str, str], kept: Path | None
) -> RenderableType:
    """The device's ceilings beside those of its data sheet, and where they were kept."""
    made = table("", "measured", "data sheet", "reached", "ridge", right=(1, 2, 3, 4))
    made.add_row(*_line("copy", measured.bytes_per_s, sheet.bytes_per_s if sheet else None, units.byte_rate))
    for dtype, rate in measured.flop_per_s.items():
        said = sheet.flop_per_s.get(dtype) if sheet else None
        ridge = measured.ridge(dtype)
        made.add_row(*_line(dtype, rate, said, units.flop_rate), f"{ridge:.0f} FLOP/B" if ridge else "")
    parts: list[RenderableType] = [plain(measured.device, "bold"), made]
    parts += [plain(f"{dtype} left out: {reason}", "dim") for dtype, reason in skipped.items()]
    parts.append(plain(f"data sheet: {sheet.source}" if sheet else "no data sheet of it is listed", "dim"))
    parts.append(Unbroken(f"kept in {kept}" if kept else "not kept: the cache is turned off", "dim"))
    return Group(*parts)


def _line(what: str, measured: float, said: float | None, rate: Any) -> tuple[Text, ...]:
    reached = units.percent(measured / said) if said else ""
    return tuple(map(plain, (what, rate(measured), rate(said) if said else "", reached)))


def as_json(
    measured: Ceiling,
    sheet: Ceiling | None,
    skipped: Mapping[str, str],
    machine: Mapping[str, Any],
    kept: Path | None,
) -> dict[str, Any]:
    """`rung climb ceiling --json`: bytes and FLOP a second."""
    return {
        "rung": "ceiling",
        "ceiling": asdict(measured),
        "data_sheet": asdict(sheet) if sheet else None,
        "skipped": dict(skipped),
        "machine": dict(machine),
        "kept": str(kept) if kept else None,
    }
