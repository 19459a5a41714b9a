"""Where the tests of this room find traces, and how patient hypothesis is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parents[1]))  # for tracelib

settings.register_profile("rung", deadline=None)  # the first example pays for imports and caches
settings.load_profile("rung")

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The recordings beside the checkout; tests that need them are skipped where they are absent."""
    folder = ROOT.parent / "shared" / "traces"
    if not folder.is_dir():
        pytest.skip(f"no recordings at {folder}")
    return folder
