"""SVG as text. Every attribute and every text goes through here, so a hostile name can only ever be text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from rung.visible import printable


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
    return element("text", escape(printable(words)), x=x, y=y, **attributes)


def titled(words: str) -> str:
    """What a pointer that rests on the element is told."""
    return element("title", escape(printable(words)))


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
            "aria_label": printable(self.label),
        }


def _number(value: object) -> str:
    """Coordinates to a tenth of a pixel: nobody sees more."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def room_for(labels: Iterable[str], least: float) -> float:
    """How wide a column of labels is, in the bold 13 px of the style sheet."""
    return max([least, *(8.0 * len(label) + 14 for label in labels)])
