"""The page that opens Perfetto and hands it the trace."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from rung.show.inline import embedded, policy_hash
from rung.visible import printable

if TYPE_CHECKING:
    from rung.show.perfetto.opening import Handed

_ASSETS = files("rung.show.perfetto") / "assets"


def opener(handed: Handed, *, trace_at: str, alive_at: str, ui: str) -> bytes:
    """A page that shows Perfetto (`ui` is its address) and posts it the trace at `trace_at`."""
    script = (_ASSETS / "opener.js").read_text(encoding="utf-8")
    style = (_ASSETS / "opener.css").read_text(encoding="utf-8")
    told = {
        "trace": trace_at,
        "alive": alive_at,
        "ui": ui,
        "title": printable(handed.title),
        "view": list(handed.view_s) if handed.view_s else None,
    }
    made = Environment(autoescape=True, undefined=StrictUndefined).from_string(
        (_ASSETS / "opener.html.j2").read_text(encoding="utf-8")
    )
    return made.render(
        title=printable(handed.title),
        ui=ui,
        online=not ui.startswith("/"),
        data=embedded(told),
        script=Markup(script),
        script_hash=policy_hash(script),
        style=Markup(style),
        style_hash=policy_hash(style),
    ).encode()
