"""What is doubtful about the links between launches and device work."""

from __future__ import annotations

from collections import Counter

import numpy as np

from rung.trace.columns import Ints, Spans
from rung.trace.linking import Links
from rung.trace.warnings import Warning


def link_warnings(spans: Spans, links: Links, step_of_launch: Ints) -> list[Warning]:
    """Warnings on links. `step_of_launch` is the step's number for each of `links.launches`, -1 for none."""
    found = [
        _unlinked(links),
        _without_kernel(links, step_of_launch),
        _ambiguous(links),
        _skewed(spans, links),
    ]
    return [warning for warning in found if warning]


def _unlinked(links: Links) -> Warning | None:
    count = int(((links.launch < 0) & (links.op < 0)).sum())
    text = "device events with no launch in the file: launched before the window, or their link was lost"
    return Warning("unlinked", count, None, text) if count else None


def _without_kernel(links: Links, step_of_launch: Ints) -> Warning | None:
    idle = np.flatnonzero(~np.isin(links.launches, links.launch))
    if not idle.size or not len(links.device_rows):
        return None
    steps = Counter(step_of_launch[idle].tolist())
    where = ", ".join(
        f"{count} in step {step}" if step >= 0 else f"{count} outside steps" for step, count in steps.items()
    )
    text = "launches whose device work is not in the file"
    return Warning(
        "launch-without-kernel",
        idle.size,
        None,
        f"{text}: {where}" if max(steps) >= 0 else text,
    )


def _ambiguous(links: Links) -> Warning | None:
    """Launches that share a correlation, or that are no graph launch and have several kernels."""
    linked = links.launch[links.launch >= 0]
    rows, work = np.unique(linked, return_counts=True)
    several = int(np.isin(links.launches[~links.graph], rows[work > 1]).sum())
    count = several + links.contested
    text = "launches that share a correlation, or are no graph launch and have several kernels"
    return Warning("ambiguous-link", count, None, text) if count else None


def _skewed(spans: Spans, links: Links) -> Warning | None:
    linked = (links.launch >= 0) & spans.timed[links.device_rows] & spans.timed[links.launch]
    latency = spans.start[links.device_rows] - spans.start[links.launch]
    early = np.flatnonzero(linked & (latency < 0))
    if not early.size:
        return None
    worst = _least_by_device(latency, early, links.device)
    skew = ", ".join(f"{-ns} ns on device {device}" for device, ns in worst.items())
    text = f"device events that begin before their launch: the clocks differ by at least {skew}"
    return Warning("clock-skew", int(early.size), None, text)


def _least_by_device(
    latency: Ints, rows: Ints, device: list[int | str | None]
) -> dict[int | str | None, int]:
    least: dict[int | str | None, int] = {}
    for i in rows.tolist():
        least[device[i]] = min(int(latency[i]), least.get(device[i], 0))
    return least
