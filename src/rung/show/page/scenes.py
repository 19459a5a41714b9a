"""What a page shows: a trace, variants of one thing side by side, or several such scenes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rung.insight.diff import Diff, describe
from rung.insight.exhibit import Exhibit
from rung.insight.guess import Verdict
from rung.insight.guessing.verdict import Section as Judged
from rung.show.drawing.bars import side_by_side
from rung.show.drawing.lanes import lanes


@dataclass(frozen=True, slots=True)
class Scene:
    """Variants of one thing; `guess` is what became of a guess about the first."""

    title: str
    exhibits: tuple[Exhibit, ...]
    guess: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A scene for the template: pictures, what changed in each variant, the guess judged."""

    title: str
    lanes: Markup | None
    bars: Markup | None
    diffs: tuple[tuple[str, Diff], ...]
    conclusion: str
    judged: tuple[Judged, ...]


def comparisons(scenes: Sequence[Scene]) -> list[Comparison]:
    """One a scene that has something to compare: variants, or a guess with the truth."""
    return [_comparison(scene) for scene in scenes if len(scene.exhibits) > 1 or scene.guess is not None]


def _comparison(scene: Scene) -> Comparison:
    labels = [one.label.removeprefix(scene.title).strip() or one.label for one in scene.exhibits]
    forwards = [one.forward for one in scene.exhibits]
    several = len(forwards) > 1
    return Comparison(
        title=scene.title,
        lanes=Markup(lanes(labels, forwards).svg) if several else None,
        bars=Markup(side_by_side(labels, forwards).svg) if several else None,
        diffs=tuple(
            (label, describe(forwards[0], forward))
            for label, forward in zip(labels[1:], forwards[1:], strict=True)
        ),
        conclusion="" if scene.guess is None else scene.guess.conclusion,
        judged=() if scene.guess is None else tuple(scene.guess.sections()),
    )
