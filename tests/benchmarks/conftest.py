"""The benchmarks are scripts beside each other: their folder is on the path, as when one of them runs."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
