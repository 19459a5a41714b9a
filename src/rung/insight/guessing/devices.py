"""The sections of a guess file that are for some devices only: `[h200]`, `[cpu]`, `[gpu]`, `[default]`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rung.trace import Trace

DEFAULT = "default"
GENERAL = ("cpu", "gpu", DEFAULT)
MODELS = frozenset(
    [
        "p100",
        "v100",
        "t4",
        "a2",
        "a10",
        "a10g",
        "a16",
        "a30",
        "a40",
        "a100",
        "a800",
        "l4",
        "l40",
        "l40s",
        "h20",
        "h100",
        "h200",
        "h800",
        "gh200",
        "b100",
        "b200",
        "b300",
        "gb200",
        "gb300",
        "mi100",
        "mi210",
        "mi250",
        "mi250x",
        "mi300",
        "mi300a",
        "mi300x",
        "mi308x",
        "mi325x",
        "mi350x",
        "mi355x",
    ]
)
"""Names that a table needs no `devices = [...]` for, to be a device's section and no region."""


@dataclass(frozen=True, slots=True)
class Scope:
    """On which devices a line counts: those of a section, but not those that a closer section speaks for."""

    section: str | None = None
    but: tuple[str, ...] = ()

    def covers(self, trace: Trace) -> bool:
        if self.section is not None and not matches(self.section, trace):
            return False
        return not any(matches(other, trace) for other in self.but)

    @property
    def names_a_model(self) -> bool:
        """Whether all its devices are of one model, so that their times can be compared; a maker's name, or
        a family's, has no number."""
        return self.section not in (None, *GENERAL) and any(map(str.isdigit, str(self.section)))

    def __str__(self) -> str:
        if self.section == DEFAULT:
            return "where no other section is for the device"
        return f"on {self.section}" if self.section else ""


EVERYWHERE = Scope()


def is_device(name: str, declared: frozenset[str]) -> bool:
    """Whether a table of this name is a device's section; `declared` are those the file names itself."""
    return name in GENERAL or name in MODELS or name in declared


def closeness(section: str | None) -> int:
    """A line replaces the same one of a less close section."""
    return 0 if section is None else 1 if section == DEFAULT else 2 if section in GENERAL else 3


def matches(section: str, trace: Trace) -> bool:
    """Whether a trace was recorded on such a device. Each part of `rtx_4090` has to be a word of its name."""
    if section == DEFAULT:
        return True
    if section in ("cpu", "gpu"):
        return trace.stand_in == (section == "cpu")
    words = re.split(r"[^a-z0-9]+", (device_of(trace) or "").lower())
    return not trace.stand_in and all(part in words for part in re.split(r"[^a-z0-9]+", section.lower()))


def device_of(trace: Trace) -> str | None:
    """The device's name: of the GPU, or of the CPU where there is no GPU work and Rung recorded it."""
    known = trace.header.made.get("device_name")
    recorded = known if isinstance(known, str) else None
    return recorded if trace.stand_in else trace.device or recorded


def section_for(trace: Trace) -> tuple[str, bool]:
    """The closest section for this trace's device, and whether a file has to declare it."""
    if trace.stand_in:
        return "cpu", False
    words = [word for word in re.split(r"[^a-z0-9]+", (device_of(trace) or "").lower()) if word]
    for word in words:
        if word in MODELS:
            return word, False
    named = [word for word in words if any(letter.isdigit() for letter in word)]
    return (named[0], True) if named else ("gpu", False)
