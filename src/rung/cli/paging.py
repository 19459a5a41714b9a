"""`rung climb --html`: the page of a whole rung."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rung.insight.guess import Verdict
    from rung.ladder.story import Story


def write_page(story: Story, verdicts: Sequence[Verdict], path: Path) -> None:
    """Every scene of the story with its variants side by side, the guess beside the truth.

    Raises:
        UsageError: the file cannot be written.
    """
    from rung.cli.output import working, write_file
    from rung.insight.exhibit import budget, exhibit
    from rung.show.page import Scene, page

    told = [scene for scene in story.scenes if scene.chapters]
    most = budget(sum(len(scene.chapters) for scene in told))
    judged: list[Verdict | None] = [*verdicts] or [None] * len(told)
    with working("drawing"):
        scenes = [
            Scene(
                scene.name,
                tuple(
                    exhibit(
                        chapter.forward.example.trace,
                        f"{scene.name} {chapter.variant}" if len(told) > 1 else chapter.variant,
                        most=most,
                    )
                    for chapter in scene.chapters
                ),
                verdict,
            )
            for scene, verdict in zip(told, judged, strict=True)
        ]
        html = page(scenes, story.rung.title, story.lesson)
    write_file(path, html)
