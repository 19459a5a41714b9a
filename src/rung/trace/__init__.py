"""Bytes -> columns -> links: read a profiler trace into a linked, queryable `Trace`. Knows no torch."""

from __future__ import annotations

from rung.trace.model import Chain, Header, Tables, Trace
from rung.trace.narrow import narrow
from rung.trace.peek import read_header
from rung.trace.reading import read
from rung.trace.rows import Rows
from rung.trace.views import Kernel, Launch, Op, Region, Step
from rung.trace.warnings import DAMAGE, Warning

__all__ = [
    "DAMAGE",
    "Chain",
    "Header",
    "Kernel",
    "Launch",
    "Op",
    "Region",
    "Rows",
    "Step",
    "Tables",
    "Trace",
    "Warning",
    "narrow",
    "read",
    "read_header",
]
