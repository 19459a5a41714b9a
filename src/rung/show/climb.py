"""`rung climb` in a terminal: a scene's variants one by one, then side by side, then what changed."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import which

from rich.console import Group, RenderableType
from rich.text import Text

from rung.insight.guess import Verdict
from rung.ladder.story import Chapter, Scene, Story
from rung.ladder.values import Rung
from rung.show import guess, kernels, layouts
from rung.show.diff import SideBySide, point, verdict
from rung.show.fitting import LeftOut, Phrases, Unbroken
from rung.show.plain import EMULATED, plain
from rung.show.read import MANY, counts, summary

DRAWN = "drawn from the article's published names and times, not recorded"
TILDE = "~ marks a width that it does not print"


QUESTIONS = (
    guess.Question("kernels", "how many kernels does one eager forward run?"),
    *guess.QUESTIONS[1:],
)


def title(rung: Rung) -> RenderableType:
    """`GeGLU MLP   down(gelu_tanh(gate(x)) * up(x))`"""
    return Phrases(Text(rung.title, style="bold"), Text(rung.expression))


def pages(story: Story, verdicts: Sequence[Verdict]) -> Iterator[RenderableType]:
    """The story: scene by scene with the verdict on the guess, then the lesson and where to go next."""
    judged = iter(verdicts)
    left_out = LeftOut()
    for scene in story.scenes:
        yield ""
        yield _setting(scene)
        if scene.chapters and verdicts:
            yield ""
            yield _judged(next(judged))
        yield from _scene(scene, story.rung, left_out)
    if story.layouts:
        yield ""
        yield from layouts.lines(story.layouts)
    yield left_out
    yield ""
    yield Text(story.lesson, style="bold")
    yield from _next(story)


def _scene(scene: Scene, rung: Rung, left_out: LeftOut) -> Iterator[RenderableType]:
    for chapter in scene.chapters:
        yield ""
        yield from _chapter(chapter, left_out)
        if chapter.variant in rung.about:
            yield point(rung.about[chapter.variant])
    for source in scene.skipped:
        yield ""
        yield plain(f"{source.variant} left out: {source.skipped}", "dim")
    if len(scene.chapters) > 1 and not scene.drawn:
        yield ""
        labels = [f"{c.variant}{', emulated' if c.emulated else ''}" for c in scene.chapters]
        yield SideBySide(labels, [c.forward for c in scene.chapters])
    if scene.outcome:
        yield Text(scene.outcome[0].upper() + scene.outcome[1:], style="bold")
    for diff, chapter in zip(scene.diffs, scene.chapters[1:], strict=True):
        yield ""
        yield Text(f"{scene.chapters[0].variant} -> {chapter.variant}", style="bold cyan")
        yield verdict(diff.changed, diff.unchanged)


def _judged(verdict: Verdict) -> Group:
    """What a guess missed is named up to the edge of the terminal: it is listed in full below."""
    lines = guess.render(verdict).split("\n")
    for line in lines:
        if line.plain.startswith("  "):
            line.no_wrap, line.overflow = True, "ellipsis"
    return Group(*lines)


def _next(story: Story) -> Iterator[RenderableType]:
    """Commands that go on from here, with the traces just shown: they say what this page has not."""
    paths = [shlex.quote(_near(c.path)) for scene in story.scenes[-1:] for c in scene.chapters]
    commands = [f"{_called()} why {path}" for path in paths[:1]]
    commands += [f"{_called()} show {' '.join(paths[:2])}" for _ in paths[:1]]
    yield ""
    for lead, command in zip(("Next: ", "      "), commands, strict=False):
        yield Unbroken(f"{lead}{command}", "dim")


def _called() -> str:
    """`rung` where a shell finds it, else the path that it was called by: `.venv/bin/rung`."""
    called = Path(sys.argv[0])
    return "rung" if which("rung") or called.name != "rung" else shlex.quote(_near(called))


def _near(path: Path) -> str:
    """A path as it is shortest to type from here."""
    return min(str(path), os.path.relpath(path), key=len)


def _setting(scene: Scene) -> Phrases:
    """Parameters, dtype, device and versions, on one line."""
    made = scene.made
    parameters = made.get("parameters") or {}
    sizes = [f"{k.replace('_', ' ')} {v}" for k, v in parameters.items() if k not in ("rung", "dtype")]
    words = [", ".join([*sizes, str(parameters.get("dtype", "")).replace("bfloat16", "bf16")]).strip(", ")]
    if (made.get("schedule") or {}).get("cold") or scene.name.endswith("-cold"):
        words.append("cold: nothing ran before")
    if scene.train:
        words.append("a step is forward and backward")
    where = scene.device or made.get("device_name") or made.get("device") or "unknown device"
    if scene.drawn:
        words += [where, DRAWN, TILDE]
    else:
        versions = f", torch {made['torch']}" if made.get("torch") else ""
        words.append(f"recorded on {where}{versions}")
    return Phrases(*(plain(word, "dim") for word in words))


def _chapter(chapter: Chapter, left_out: LeftOut) -> Iterator[RenderableType]:
    forward, doubtful = chapter.forward, chapter.unpublished
    told = [Text(counts(forward))] if doubtful else summary(forward).pieces
    caution = Text(EMULATED if chapter.emulated else "", style="yellow")
    yield Phrases(Text(chapter.variant, style="bold magenta"), *told, caution)
    points = chapter.roofline.points
    few = len(forward.rows) <= MANY
    listed = kernels.in_order(forward.rows, doubtful, chapter.weights, points, left_out)
    yield listed if few else kernels.gathered(forward.rows, 20, points, chapter.weights, left_out)
    untimed = doubtful or chapter.emulated
    for sentence in (*(() if untimed else (chapter.bound.sentence,)), *chapter.remarks):
        yield point(sentence)
