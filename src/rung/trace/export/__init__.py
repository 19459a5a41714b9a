"""Copies of traces that any viewer takes: mended, cut to a stretch of time, several in one file."""

from __future__ import annotations

from rung.trace.export.cutting import Stretch as Stretch
from rung.trace.export.exporting import Exported as Exported
from rung.trace.export.exporting import Part as Part
from rung.trace.export.exporting import export as export

__all__ = ["Exported", "Part", "Stretch", "export"]
