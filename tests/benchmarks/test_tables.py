"""The tables in docs/kernels.md are those of the results in the repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tables import RESULTS, tables

DOCS = Path(__file__).parents[2] / "docs/kernels.md"
RESULT = {
    "rows": {
        "wall-1": {
            "values": {
                "rung": {"wall": 25.04, "cpu": 24.0},
                "eager": {"wall": 50.0, "cpu": 1234.5},
                "compile": {"wall": 99.96, "cpu": 100.0},
            }
        },
        "wall-64": {"failed": "OutOfMemoryError: "},
    }
}


def test_tables_hold_measures_and_verdicts() -> None:
    wall, verdicts = tables(RESULT).split("\n\n| row |")
    assert wall.splitlines() == [
        "A forward called from Python at 768, 3072, µs: wall / cpu",
        "",
        "| | rung | eager | compile |",
        "|---|---|---|---|",
        "| 1 | **25.0 / 24.0** | 50.0 / 1234 | 100.0 / 100.0 |",
    ]
    assert verdicts.splitlines()[2:] == [
        "| wall-1 | rung / eager | wall **0.50** | 0.45 | 0.33 | **missed**, aim missed |",
        "| wall-1 | rung / compile | wall 0.25 | 0.25 |  | met |",
    ]


@pytest.mark.skipif(not RESULTS.exists(), reason="python benchmarks/glu.py writes the results, on a GPU")
def test_the_docs_show_what_was_measured() -> None:
    assert tables(json.loads(RESULTS.read_text())) in DOCS.read_text()
