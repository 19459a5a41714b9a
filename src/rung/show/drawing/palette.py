"""One colour a kind of work, the same on the page and in a picture."""

from __future__ import annotations

import re
from importlib.resources import files

KINDS = (files("rung.show.drawing") / "kinds.css").read_text(encoding="utf-8")
"""The style sheet, its colours in variables so that a page can turn dark."""

_VARIABLE = re.compile(r"--([\w-]+):\s*([^;]+);")
_USE = re.compile(r"var\(--([\w-]+)\)")


def resolved() -> str:
    """The same without variables, for whatever takes SVG and does not know them."""
    colours = dict(_VARIABLE.findall(KINDS))
    rules = KINDS[KINDS.index("}") + 1 :]
    return _USE.sub(lambda use: colours[use[1]], rules).replace(".drawing ", "")
