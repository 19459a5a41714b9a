"""Bytes -> columns -> links: read a profiler trace into a linked, queryable `Trace`. Knows no torch."""

from __future__ import annotations

import os

from rung.trace.assemble import assemble
from rung.trace.document import decode
from rung.trace.model import Chain, Header, Tables, Trace
from rung.trace.rows import Rows
from rung.trace.stream import open_source
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
    "read",
]


def read(path: str | os.PathLike[str], *, salvage: bool = False, stacks: bool = True) -> Trace:
    """Read a Kineto / Chrome trace: `.json`, `.json.gz`, or `-` for standard input.

    A damaged file is read as far as it is intact; what was skipped or repaired is in `Trace.warnings`. A file
    that two processes wrote at once is refused, unless `salvage` asks for every intact event of both.

    Raises:
        UnreadableTraceError: the file is missing, a folder, empty, not JSON and not repairable, holds no
            events, or has two writers.
    """
    return assemble(decode(open_source(path), salvage, stacks))
