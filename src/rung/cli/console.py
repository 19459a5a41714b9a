"""The console that data goes to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from rung.show.plain import printable_lines

_BEFORE_A_BREAK = re.compile(r" +\n")


class PlainConsole(Console):
    """Shows control characters instead of sending them, and no blanks at the ends of lines."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """As Rich does; only its own control segments steer the terminal."""
        return _trimmed(_harmless(super().render(renderable, options)))


def _harmless(segments: Iterable[Segment]) -> Iterator[Segment]:
    for segment in segments:
        yield segment if segment.control else Segment(printable_lines(segment.text), segment.style)


def _trimmed(segments: Iterable[Segment]) -> Iterator[Segment]:
    """Without the blanks before a line's end, with which Rich fills columns."""
    blanks: list[Segment] = []
    for segment in segments:
        text = _BEFORE_A_BREAK.sub("\n", segment.text).rstrip(" ")
        if segment.control or (text and text != "\n"):
            yield from blanks
            blanks = []
        elif text == "\n":
            blanks = []
        if text:
            yield Segment(text, segment.style, segment.control)
        if ended := len(segment.text) - len(segment.text.rstrip(" ")):
            blanks.append(Segment(" " * ended, segment.style))
    yield from blanks
