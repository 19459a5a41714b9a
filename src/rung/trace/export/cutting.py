"""Which events belong to a stretch of time."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from rung.trace.export.raw import Line

_CORRELATION = re.compile(rb'"correlation"\s*:\s*(\d+)')


@dataclass(frozen=True, slots=True)
class Stretch:
    """From `start` to `end`, ns of the file's clock. With `correlations`, of the device's work only what
    those launched: a region's own, not what still ran from before."""

    start: int
    end: int
    correlations: frozenset[int] | None = None


@dataclass(slots=True)
class Window:
    """Keeps what touches a stretch, and what has no time (names of tracks).

    An end without its begin is left out with it.
    """

    stretch: Stretch
    _open: Counter[bytes] = field(default_factory=Counter)

    def keeps(self, line: Line, text: bytes) -> bool:
        """Whether an event stays; events come in the order of the file."""
        at = line.start_ns
        if line.ph == "M" or at is None:
            return True
        if line.ph == "E":
            known = self._open[line.track] > 0
            self._open[line.track] -= known
            return known
        inside = at < self.stretch.end and at + line.dur_ns >= self.stretch.start
        if line.ph == "B" and inside:
            self._open[line.track] += 1
        return inside and self._is_own(line, text)

    def _is_own(self, line: Line, text: bytes) -> bool:
        wanted = self.stretch.correlations
        if wanted is None or not line.on_device:
            return True
        found = _CORRELATION.search(text)
        return found is not None and int(found[1]) in wanted
