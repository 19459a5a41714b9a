"""Opening a page in the browser, where there is one."""

from __future__ import annotations

import os
import subprocess
import sys

PATIENCE_S = 1.0
"""What opens a page has failed by then; a browser that it started in the foreground goes on."""

SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME")
"""One of these is set where a browser can appear. Without one `xdg-open` would try browsers for terminals."""


def open_page(address: str) -> None:
    """Open `file://` or `http://` in the user's browser; where none opens, say so in one line on stderr."""
    from rung.cli.output import stderr

    if not _opened(address):
        stderr().print(f"No browser opens here: the page is {address}")


def _opened(address: str) -> bool:
    if sys.platform == "win32":
        import webbrowser

        return webbrowser.open(address)
    if sys.platform == "darwin":
        return _ran("open", address)
    return any(os.environ.get(name) for name in SCREENS) and _ran("xdg-open", address)


def _ran(opener: str, address: str) -> bool:
    """Whether it began well. What it has to say is its own; Ctrl-C here ends no browser that it started."""
    nowhere = subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            [opener, address], stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True
        )
        return process.wait(PATIENCE_S) == 0
    except subprocess.TimeoutExpired:
        process.returncode = 0  # it outlives us: nobody waits for it
        return True
    except OSError:
        return False
