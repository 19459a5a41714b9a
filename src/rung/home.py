"""Where Rung keeps what it can make anew, and whether it may."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder(name: str) -> Path:
    """A folder below `RUNG_CACHE_DIR` (default `~/.cache/rung`)."""
    return Path(os.environ.get("RUNG_CACHE_DIR") or Path.home() / ".cache/rung") / name


def cache_is_off() -> bool:
    """Whether `RUNG_NO_CACHE` says so."""
    return os.environ.get("RUNG_NO_CACHE", "0") not in ("", "0")
