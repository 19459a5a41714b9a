"""What a viewer would drop: slices that overlap on one track without one lying in the other.

Perfetto's importer takes the complete events of a thread as a stack (`slice_tracker.cc`) and drops one that
begins in another and outlasts it. On a CPU thread the inner one is cut to the end of the outer one, as `read`
nests them: the recorder's clocks differ by a microsecond. But a Python frame that opens an annotation
(`record_function.__enter__`) ends where that begins. On a device both did run (dependent launch): the later
one moves to a track of its own beside the stream's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from rung.trace.export.raw import Line


class Slice(NamedTuple):
    """Times in ns; `number` is the event's among all of the file."""

    start: int
    end: int
    number: int
    frame: bool


@dataclass(slots=True)
class Repairs:
    """By an event's number: its new duration in ns, or the how-manieth track beside its own it moves to."""

    trimmed: dict[int, int] = field(default_factory=dict)
    moved: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class Tracks:
    """The slices of a file, track by track."""

    host: defaultdict[bytes, list[Slice]] = field(default_factory=lambda: defaultdict(list))
    device: defaultdict[bytes, list[Slice]] = field(default_factory=lambda: defaultdict(list))

    def add(self, number: int, line: Line) -> None:
        """Take note of an event, if it is a slice."""
        start = line.start_ns
        if line.ph == "X" and start is not None:
            side = self.device if line.on_device else self.host
            side[line.track].append(Slice(start, start + line.dur_ns, number, line.is_frame))

    def repairs(self) -> Repairs:
        """What it takes for every track to be a stack."""
        found = Repairs()
        for slices in self.host.values():
            found.trimmed.update(_trimmed(slices))
        for slices in self.device.values():
            found.moved.update(_moved(slices))
        return found


def _in_order(slices: list[Slice]) -> list[Slice]:
    """By start, outer ones first."""
    return sorted(slices, key=lambda s: (s.start, -s.end, s.number))


def _trimmed(slices: list[Slice]) -> Iterator[tuple[int, int]]:
    around: list[Slice] = []
    for inner in _in_order(slices):
        while around and around[-1].end <= inner.start:
            around.pop()
        while around and inner.end > around[-1].end and _opens(around[-1], inner):
            frame = around.pop()
            yield frame.number, inner.start - frame.start
        if around and inner.end > around[-1].end:
            inner = inner._replace(end=around[-1].end)
            yield inner.number, inner.end - inner.start
        around.append(inner)


def _opens(frame: Slice, inner: Slice) -> bool:
    """Whether a frame opened what begins in it and lies mostly behind it."""
    return frame.frame and not inner.frame and inner.end - frame.end > frame.end - inner.start


def _moved(slices: list[Slice]) -> Iterator[tuple[int, int]]:
    """Each slice goes to the first track where it crosses nothing."""
    tracks: list[list[int]] = []
    for one in _in_order(slices):
        place = next((i for i, ends in enumerate(tracks) if _fits(ends, one)), len(tracks))
        if place == len(tracks):
            tracks.append([])
        tracks[place].append(one.end)
        if place:
            yield one.number, place


def _fits(ends: list[int], one: Slice) -> bool:
    while ends and ends[-1] <= one.start:
        ends.pop()
    return not ends or one.end <= ends[-1]
