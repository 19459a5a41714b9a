"""Whether two processes wrote one file."""

from __future__ import annotations

from collections.abc import Sequence

from rung.trace.events import Event
from rung.trace.roles import CPU_SIDE, role_of

Pid = int | str | None
SPANS = frozenset("XBE")


def second_writer(events: Sequence[Event], breaks: Sequence[tuple[int, int]]) -> int | None:
    """The byte from which on another process wrote, judging by the breaks `(events before it, byte)`.

    After such a break all CPU-side events carry a pid never seen before it, and no earlier pid returns.
    """
    if not breaks:
        return None
    seen = _extent(events, cpu_only=False)
    cpu = _extent(events, cpu_only=True)
    for index, offset in breaks:
        before = [pid for pid, (first, _) in cpu.items() if first < index]
        after = [pid for pid, (_, last) in cpu.items() if last >= index]
        returned = any(seen[pid][1] >= index for pid in before)
        known = any(seen[pid][0] < index for pid in after)
        if before and after and not returned and not known:
            return offset
    return None


def _extent(events: Sequence[Event], cpu_only: bool) -> dict[Pid, tuple[int, int]]:
    """The first and the last event of each pid."""
    extent: dict[Pid, tuple[int, int]] = {}
    for i, event in enumerate(events):
        if not cpu_only or (event.ph in SPANS and role_of(event.cat, event.pid) in CPU_SIDE):
            first, _ = extent.get(event.pid, (i, i))
            extent[event.pid] = (first, i)
    return extent
