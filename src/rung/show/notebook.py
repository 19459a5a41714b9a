"""What results look like in a notebook, where there is room for a page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rung.recording import Recording

HEIGHT = 760
"""Pixels of the frame: the verdict, the timeline, and the first findings."""


def register(shell: Any) -> None:
    """Tell an IPython shell how recordings are shown. Nothing of what it takes is imported until one is."""
    pages = shell.display_formatter.formatters["text/html"]
    pages.for_type_by_name("rung.recording.values", "Recording", recording)


def recording(made: Recording) -> str:
    """The page of `rung show` in a frame of its own: it can reach neither the notebook nor the network."""
    from rung.insight.exhibit import exhibit
    from rung.show.page import Scene, page

    scene = Scene(made.name, (exhibit(made.trace, made.variant),))
    html = page([scene], title=f"{made.name}, {made.variant}")
    return (
        f'<iframe sandbox="allow-scripts" width="100%" height="{HEIGHT}" style="border:0" '
        f'title="{escape(made.name)}" srcdoc="{escape(html)}"></iframe>'
    )
