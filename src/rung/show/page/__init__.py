"""A page one can explore: one HTML file that holds all it needs and asks nobody for anything."""

from __future__ import annotations

from rung.show.page.render import page as page
from rung.show.page.scenes import Scene as Scene

__all__ = ["Scene", "page"]
