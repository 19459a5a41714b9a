"""Records work under torch.profiler: the only room that touches it. Importing this takes no torch."""

from __future__ import annotations

from rung.recording.recorder import make_work, record, record_work
from rung.recording.values import Recording, Settings, Skipped, Work
from rung.recording.variants import VARIANTS, Context, Ready

__all__ = [
    "VARIANTS",
    "Context",
    "Ready",
    "Recording",
    "Settings",
    "Skipped",
    "Work",
    "make_work",
    "record",
    "record_work",
]
