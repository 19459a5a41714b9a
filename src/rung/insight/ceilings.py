"""What a device can do at most: measured on it where that was done, else what its data sheet says."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from rung.home import cache_folder, cache_is_off
from rung.insight.guessing.devices import device_of
from rung.insight.peaks import sheet_of
from rung.trace import Trace

SHIPPED = Path(__file__).parent / "measured"


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Bytes read and written a second, and FLOP a second by dtype (`"bf16"`, `"tf32"`, `"fp8"`, ...), dense.

    `source` says where from: `"measured on this device ..."`, or the data sheet's address.
    """

    device: str
    bytes_per_s: float
    flop_per_s: Mapping[str, float]
    multiprocessors: int | None
    source: str

    def ridge(self, dtype: str) -> float | None:
        """FLOP a byte from which on arithmetic in this dtype takes longer than memory; None if unknown."""
        peak = self.flop_per_s.get(dtype)
        return peak / self.bytes_per_s if peak else None


def ceiling_of(trace: Trace) -> Ceiling | None:
    """The ceiling of the device a trace was recorded on; None if it was neither measured nor is listed."""
    device = device_of(trace)
    return ceiling_for(device) if device else None


def ceiling_for(device: str) -> Ceiling | None:
    """The ceiling of a device by name: measured here, else as shipped, else its data sheet's, else None."""
    return _measured(_stored(device)) or _measured(SHIPPED / file_name(device)) or data_sheet(device)


def data_sheet(device: str) -> Ceiling | None:
    """What the maker says; None for a device that is not listed."""
    sheet = sheet_of(device)
    if sheet is None:
        return None
    return Ceiling(device, sheet.bytes_per_s, sheet.flop_per_s, sheet.multiprocessors, sheet.source)


def store(ceiling: Ceiling) -> Path | None:
    """Keep a measured ceiling for traces of this device; dtypes it lacks stay as measured before.

    Returns the file; None where the cache is turned off, or its folder cannot be written.
    """
    file = _stored(ceiling.device)
    before = _measured(file)
    flop_per_s = {**(before.flop_per_s if before else {}), **ceiling.flop_per_s}
    text = msgspec.json.format(msgspec.json.encode(replace(ceiling, flop_per_s=flop_per_s)))
    if file is None:
        return None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}.part")
        part.write_bytes(text)
        part.replace(file)
    except OSError:  # a full or read-only disk
        return None
    return file


def file_name(device: str) -> str:
    """`"NVIDIA H200"` -> `"nvidia-h200.json"`"""
    return re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-") + ".json"


def _stored(device: str) -> Path | None:
    return None if cache_is_off() else cache_folder("ceilings") / file_name(device)


def _measured(file: Path | None) -> Ceiling | None:
    if file is None:
        return None
    try:
        return msgspec.json.decode(file.read_bytes(), type=Ceiling)
    except (OSError, msgspec.DecodeError):  # not measured, or not by this version
        return None
