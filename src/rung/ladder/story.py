"""A climbed rung as plain data: each variant's forward, what explains it, and what differs from the first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rung import units
from rung.insight.bound import Bound, bound
from rung.insight.diff import Diff, describe
from rung.insight.findings import Case, explanations
from rung.insight.forward import Forward, forward, is_emulated
from rung.insight.roofline import Roofline
from rung.insight.spread import Spread
from rung.ladder.labels import labels
from rung.ladder.linear_facts import LinearFacts
from rung.ladder.values import Rung
from rung.recording import Recording, Skipped
from rung.trace import read


@dataclass(frozen=True, slots=True)
class Source:
    """Where one variant's trace lies, or why there is none. `scene` tells parameter sets apart."""

    scene: str
    variant: str
    path: Path | None = None
    skipped: str | None = None


@dataclass(frozen=True, slots=True)
class Chapter:
    """One variant of a scene, told from its trace."""

    variant: str
    path: Path
    forward: Forward
    roofline: Roofline
    bound: Bound
    remarks: tuple[str, ...]
    weights: tuple[str, ...] = ()
    """Of each row of the forward, the weights that it works with, where the recording says so."""
    unpublished: frozenset[str] = frozenset()
    """In a drawn trace, the names whose width its source does not print."""

    @property
    def emulated(self) -> bool:
        return is_emulated(self.forward.example.trace)


@dataclass(frozen=True, slots=True)
class Scene:
    """One parameter set, warm or cold: its variants, and each one's diff from the first.

    `made` is what the traces say of their own making (`metadata["rung"]`): parameters, dtype, device,
    versions, and whether they were `drawn` instead of recorded.
    """

    name: str
    device: str | None
    made: Mapping[str, Any]
    chapters: tuple[Chapter, ...]
    skipped: tuple[Source, ...]
    diffs: tuple[Diff, ...]

    @property
    def drawn(self) -> bool:
        return bool(self.made.get("drawn"))

    @property
    def train(self) -> bool:
        """Whether what it shows is forward and backward."""
        return bool(self.made.get("train"))

    @property
    def outcome(self) -> str | None:
        """Which variant won, on the GPU and by the clock; None where nothing was measured side by side."""
        if self.drawn or len(self._timed) < 2:
            return None
        wall = self._fastest("by the clock", lambda f: f.wall_ns)
        if not all(c.forward.gpu_busy_ns.median for c in self._timed):
            return f"{wall}."
        gpu = self._fastest("on the GPU", lambda f: f.gpu_busy_ns)
        return f"{gpu}; {wall}."

    @property
    def _timed(self) -> list[Chapter]:
        return [chapter for chapter in self.chapters if not chapter.emulated]

    def _fastest(self, where: str, time: Callable[[Forward], Spread]) -> str:
        """Who has the least median, and whose steps are as short as that."""
        times = {chapter.variant: time(chapter.forward) for chapter in self._timed}
        first, best = self._timed[0].variant, min(times, key=lambda variant: times[variant].median)
        gain = units.change(times[first].median, times[best].median)
        against = f" ({gain} against {first})" if best != first else ""
        level = [one for one in times if one != best and times[one].meets(times[best])]
        doubt = f", but {units.listing(level)} {'is' if len(level) == 1 else 'are'} within the spread"
        took = units.duration(times[best].median)
        return f"{where} {best} is fastest, {took}{against}{doubt if level else ''}"


@dataclass(frozen=True, slots=True)
class Story:
    """All scenes of a rung; for `linear`, recorded here, also what strides have to do with it."""

    rung: Rung
    scenes: tuple[Scene, ...]
    layouts: LinearFacts | None = None

    @property
    def lesson(self) -> str:
        return self.rung.lesson_of(train=any(scene.train for scene in self.scenes))


def sources(results: Iterable[Recording | Skipped]) -> list[Source]:
    """Fresh recordings as sources."""
    return [
        Source(r.name, r.variant, r.path)
        if isinstance(r, Recording)
        else Source(r.name, r.variant, None, r.reason)
        for r in results
    ]


def tell(rung: Rung, found: Sequence[Source], layouts: LinearFacts | None = None) -> Story:
    """Read the traces and put them side by side, scene by scene, the first variant being the measure.

    Raises:
        UnreadableTraceError: one of the paths holds no trace.
    """
    names = dict.fromkeys(source.scene for source in found)
    scenes = (_scene(name, [s for s in found if s.scene == name]) for name in names)
    return Story(rung, tuple(scenes), layouts)


def _scene(name: str, found: Sequence[Source]) -> Scene:
    chapters: list[Chapter] = []
    device: str | None = None
    made: dict[str, Any] = {}
    for source in found:
        if source.path is None:
            continue
        trace = read(source.path)
        own = trace.header.made
        device, made = device or trace.device, made or own
        told = forward(trace)
        case = Case(trace, (told,))
        (placed,) = case.rooflines
        lines = [*own.get("printed", ()), *(one.title for one in explanations(case))]
        chapters.append(
            Chapter(
                variant=source.variant,
                path=source.path,
                forward=told,
                roofline=placed,
                bound=bound(told, placed),
                remarks=tuple(lines),
                weights=labels(told),
                unpublished=frozenset(own.get("unpublished", ())),
            )
        )
    return Scene(
        name,
        device,
        made,
        tuple(chapters),
        tuple(s for s in found if s.path is None),
        tuple(describe(chapters[0].forward, c.forward) for c in chapters[1:]),
    )
