"""What goes into a page's markup without being escaped by its template, made harmless."""

from __future__ import annotations

import base64
import hashlib

import msgspec
from markupsafe import Markup


def embedded(value: object) -> Markup:
    """JSON for a script element: nothing in it can end the element or start a comment."""
    text = msgspec.json.encode(value).decode()
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def policy_hash(text: str) -> Markup:
    """How a content security policy names an inline script or style of ours."""
    return Markup(f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'")
