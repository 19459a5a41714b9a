"""SVG as text. Every attribute and every text goes through here, so a hostile name can only ever be text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from rung.visible import shortened

WORDS, TOLD = 120, 600
"""Letters of a text that is drawn, and of one that is told."""


def element(tag: str, inner: Iterable[str] | str = (), **attributes: object) -> str:
    """`<tag attribute="value">inner</tag>`; `inner` is markup made by this module. Underscores stand for
    hyphens, a trailing one keeps Python's words apart: `stroke_width=1`, `class_="axis"`."""
    said = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_number(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    body = inner if isinstance(inner, str) else "".join(inner)
    return f"<{tag}{said}>{body}</{tag}>" if body else f"<{tag}{said}/>"


def text(words: str, x: float, y: float, **attributes: object) -> str:
    return element("text", escape(shortened(words, WORDS)), x=x, y=y, **attributes)


def titled(words: str) -> str:
    """What a pointer that rests on the element is told."""
    return element("title", escape(shortened(words, TOLD)))


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is drawn within `width` times `height`, from `left` on, and what it shows in words."""

    inner: tuple[str, ...]
    width: float
    height: float
    label: str
    left: float = 0.0

    @property
    def svg(self) -> str:
        """As an element of a page: it scales with its place."""
        return element("svg", [titled(self.label), *self.inner], **self._attributes(), class_="drawing")

    def placed(self, y: float) -> str:
        """As a part of another drawing, from `y` on down."""
        return element("svg", self.inner, **self._attributes(), y=y, width=self.width, height=self.height)

    def _attributes(self) -> dict[str, object]:
        return {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": " ".join(map(_number, (self.left, 0, self.width, self.height))),
            "role": "img",
            "aria_label": shortened(self.label, TOLD),
        }


def _number(value: object) -> str:
    """Coordinates to a tenth of a pixel: nobody sees more."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


LETTER = 8.0
"""Units that a letter of the bold 13 px of the style sheet takes at most, but for a W."""


def room_for(labels: Iterable[str], least: float, most: float = 300.0) -> float:
    """How wide a column of labels is."""
    return min(most, max([least, *(LETTER * len(label) + 14 for label in labels)]))


def label(words: str, room: float, y: float) -> str:
    """A text at the left, cut to its column."""
    fits = int((room - 14) / LETTER)
    return text(words if len(words) <= fits else f"{words[: fits - 1]}\u2026", 0, y, class_="label")
