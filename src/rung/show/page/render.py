"""The page as text: templates filled with plain data.

Names in traces are hostile text. In markup Jinja escapes all of it, in drawings `drawing.svg` does, in the
data for the scripts `<` is written `\\u003c`: no `<` from a name reaches the file as it is. The page's own
policy forbids any script and any style but ours, and every request.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib.resources import files

from jinja2 import BaseLoader, Environment, StrictUndefined
from markupsafe import Markup

from rung import units
from rung.show.drawing.palette import KINDS
from rung.show.inline import embedded, policy_hash
from rung.show.page.scenes import Scene, comparisons
from rung.show.page.sections import sections
from rung.show.page.times import times
from rung.visible import shortened

_ASSETS = files("rung.show.page") / "assets"
SCRIPTS = ("dom", "units", "lanes", "painting", "view", "details", "timeline", "table", "tabs", "main")

NAME, SENTENCE = 160, 1000
"""Letters of a name in a table or a tree, and of a sentence with names in it; the timeline has them all."""


def page(scenes: Sequence[Scene], title: str | None = None, lesson: str = "") -> str:
    """The page of one trace, of variants side by side, or of a whole rung with its `lesson`."""
    exhibits = [one for scene in scenes for one in scene.exhibits]
    script = "\n".join(_asset(f"js/{name}.js") for name in SCRIPTS)
    style = KINDS + _asset("style.css")
    template = _environment().get_template("page.html.j2")
    return template.render(
        title=title or ", ".join(one.label for one in exhibits),
        lesson=lesson,
        sections=sections(exhibits),
        comparisons=comparisons(scenes),
        data=embedded(times(exhibits)),
        style=Markup(style),
        style_hash=policy_hash(style),
        script=Markup(script),
        script_hash=policy_hash(script),
    )


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _environment() -> Environment:
    made = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=_Assets()
    )
    made.filters |= {
        "duration": units.duration,
        "percent": units.percent,
        "size": units.size,
        "plain": partial(shortened, most=SENTENCE),
        "name": partial(shortened, most=NAME),
    }
    return made


class _Assets(BaseLoader):
    """Templates from the package, wherever it lies."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str | None, None]:
        return _asset(template), None, None
