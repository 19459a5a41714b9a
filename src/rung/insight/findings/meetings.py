"""The collectives that several ranks recorded, on one clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rung.insight.findings.looking import are_collectives
from rung.trace import Trace
from rung.trace.tables import Ints

Key = tuple[int, str, int]


@dataclass(frozen=True, slots=True)
class Meetings:
    """Rank by rank (rows) the start and end of each collective that all of them recorded (columns), in ns.

    Every rank's clock is shifted by `shift_ns`, so that the ends of the collectives agree in the median: an
    all-reduce is over for all at once. `doubt_ns` is how far single ends still differ. `kernels` are the rows
    of `tables.kernels`.
    """

    start_ns: Ints
    end_ns: Ints
    kernels: Ints
    shift_ns: tuple[int, ...]
    doubt_ns: int


def meetings(traces: Sequence[Trace]) -> Meetings | None:
    """The collectives that all traces have, matched by step, name and turn; None where there are none.

    A step in which a rank ran another number of collectives of a name is left out.
    """
    found = [_collectives(trace) for trace in traces]
    keys = [key for key in found[0] if all(key in other for other in found)]
    counts = [_often(one) for one in found]
    keys = [key for key in keys if len({often.get(key[:2]) for often in counts}) == 1]
    if not keys:
        return None
    rows = np.array([[one[key] for key in keys] for one in found], dtype=np.int64)
    start = np.stack([_start(trace, r) for trace, r in zip(traces, rows, strict=True)])
    dur = np.stack([trace.tables.kernels.dur_ns[r] for trace, r in zip(traces, rows, strict=True)])
    late = start + dur - (start + dur)[0]
    shift = np.sort(late, axis=1)[:, (late.shape[1] - 1) // 2]
    start = start - shift[:, None]
    doubt = int(np.abs(late - shift[:, None]).max())
    return Meetings(start, start + dur, rows, tuple(shift.tolist()), doubt)


def _start(trace: Trace, rows: Ints) -> Ints:
    """In the recorder's own clock."""
    return trace.tables.kernels.start_ns[rows] + trace.origin_ns


def _collectives(trace: Trace) -> dict[Key, int]:
    """Rows of launched collectives by step (-1 for none), name, and how many of that name came before."""
    table = trace.tables.kernels
    turn: dict[tuple[int, str], int] = {}
    found: dict[Key, int] = {}
    for row in np.flatnonzero(are_collectives(trace) & (table.launch >= 0)).tolist():
        step = int(table.step[row])
        group = (int(trace.tables.steps.number[step]) if step >= 0 else -1, table.name[row])
        turn[group] = turn.get(group, -1) + 1
        found[(*group, turn[group])] = row
    return found


def _often(collectives: dict[Key, int]) -> dict[tuple[int, str], int]:
    return {key[:2]: key[2] + 1 for key in collectives}
