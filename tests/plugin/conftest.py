"""Runs pytest inside pytest: with Rung's plugin, as its entry point loads it, and away from GitHub."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

import rung.pytest_plugin.bench
import rung.pytest_plugin.telling  # noqa: F401  (kept in sys.modules: pytester forgets what an inner run imports)

INSTALLED = any(point.value == "rung.pytest_plugin" for point in entry_points(group="pytest11"))


@pytest.fixture(autouse=True)
def _alone(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "PYTEST_ADDOPTS", "CI", "BUILD_NUMBER"):
        monkeypatch.delenv(name, raising=False)
    # Hypothesis alone would take a second of each inner run: pytest rewrites it anew.
    unused = "-p no:hypothesispytest -p no:syrupy -p no:anyio"
    monkeypatch.setenv("PYTEST_ADDOPTS", unused if INSTALLED else f"{unused} -p rung.pytest_plugin")
