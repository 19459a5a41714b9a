"""Perfetto with a trace in it, from this machine alone."""

from __future__ import annotations

from rung.show.perfetto.opening import Handed as Handed
from rung.show.perfetto.opening import serve as serve
from rung.show.perfetto.ui import find_ui as find_ui

__all__ = ["Handed", "find_ui", "serve"]
