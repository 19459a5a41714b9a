"""What one rule sees."""

from __future__ import annotations

from pathlib import Path

import rung
from recordings import h200
from rung.insight.findings import Finding, examine, findings
from rung.trace import Trace


def seen(rule: str, trace: Trace, *peers: Trace) -> list[Finding]:
    """The findings of one id in a trace (with traces of the same job's other ranks), largest cost first."""
    return list(findings(examine(trace, peers=peers), only=[rule]))


def the_one(rule: str, trace: Trace, *peers: Trace) -> Finding:
    (found,) = seen(rule, trace, *peers)
    return found


def recorded(name: str | Path) -> Trace:
    """A recording of the ladder on an H200 by its name, or any other by its path."""
    return rung.read(name if isinstance(name, Path) else h200(name))
