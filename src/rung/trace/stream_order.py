"""Links for work that carries no correlation: the n-th piece of work belongs to the n-th launch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rung.trace.columns import Ints, Spans
from rung.trace.roles import Role

Lane = tuple[int | str | None, int | str | None]


def link_by_order(
    spans: Spans,
    device_rows: Ints,
    lanes: list[Lane],
    launch: Ints,
    launches: Ints,
    adrift: NDArray[np.bool_],
) -> None:
    """Fill in `launch` where kernels (or copies, or memsets) and launches otherwise match one to one.

    They match if as many pieces of work as launches of that sort are left over, the work lies on one stream,
    which keeps the order of its launches, and no piece begins before its launch.
    """
    role = spans.role[device_rows]
    free = launches[~np.isin(launches, launch) & spans.timed[launches]]
    sort_of_launch = np.array([_launched_role(spans.name(i)) for i in free.tolist()], dtype=np.int8)
    for sort in (Role.KERNEL, Role.COPY, Role.MEMSET):
        work, calls = np.flatnonzero(adrift & (role == sort)), free[sort_of_launch == sort]
        one_stream = len({lanes[i] for i in work.tolist()}) == 1
        if not one_stream or len(work) != len(calls) or not spans.timed[device_rows[work]].all():
            continue
        work = work[np.argsort(spans.start[device_rows[work]], kind="stable")]
        if (spans.start[device_rows[work]] >= spans.start[calls]).all():
            launch[work] = calls


def _launched_role(call: str) -> Role:
    """What a launching call puts on the device, by its name."""
    if "Memset" in call or "MemSet" in call:
        return Role.MEMSET
    return Role.COPY if "Memcpy" in call else Role.KERNEL
