"""The page that opens Perfetto and hands it the trace."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING

import msgspec
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

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
        data=Markup(msgspec.json.encode(told).decode().replace("<", "\\u003c")),
        script=Markup(script),
        script_hash=Markup(_hash(script)),
        style=Markup(style),
        style_hash=Markup(_hash(style)),
    ).encode()


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
