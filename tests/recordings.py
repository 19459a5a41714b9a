"""The shared recordings beside the checkout; a test that needs one is skipped where it is absent."""

from __future__ import annotations

from pathlib import Path

import pytest

TRACES = Path(__file__).parents[2] / "shared" / "traces"


def h200(name: str) -> Path:
    """A recording of the ladder on an H200, by its name without `.json.gz`."""
    return _there(TRACES / "h200" / f"{name}.json.gz")


def all_of(folder: str) -> list[Path]:
    """Every trace of a folder; none where it is absent."""
    return sorted([*(TRACES / folder).glob("*.json"), *(TRACES / folder).glob("*.json.gz")])


def _there(path: Path) -> Path:
    if not path.exists():
        pytest.skip(f"{path} is not there: the shared traces are not beside this checkout")
    return path
