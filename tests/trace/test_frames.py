"""The tables of a trace as data frames, and that docs/tables.md tells what is in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from rung.errors import MachineError, UsageError
from rung.trace import Trace, frames
from tracelib import annotation, arrow, copy, kernel, launch, op, read, step, work

DOC = Path(__file__).parents[2] / "docs/tables.md"

LINEAR = op("aten::linear", 10, 30)
MM = op("aten::mm", 12, 20)
BACKWARD = op("MmBackward0", 60, 5)


@pytest.fixture
def trace() -> Trace:
    return read(
        step(1, 0, 100),
        annotation("fwd", 5, 80),
        LINEAR,
        MM,
        BACKWARD,
        launch(20, 5, correlation=11),
        kernel("toy_gemm", 30, 20, correlation=11),
        copy(95, 3),
        *arrow("fwdbwd", 1, MM, BACKWARD),
    )


KERNELS: dict[str, list[Any]] = {
    "row": [0, 1],
    "name": ["toy_gemm", "Memcpy DtoD (Device -> Device)"],
    "category": ["kernel", "copy"],
    "start_ns": [30_000, 95_000],
    "dur_ns": [20_000, 3_000],
    "device": [0, 0],
    "stream": [7, 7],
    "correlation": [11, None],
    "launch": [0, None],
    "launch_name": ["cudaLaunchKernel", None],
    "op": [1, None],
    "op_name": ["aten::mm", None],
    "region": [0, None],
    "region_name": ["fwd", None],
    "step": [1, 1],
}


def listed(frame: Any, column: str) -> list[Any]:
    if hasattr(frame, "to_pylist") or hasattr(frame, "column_names"):
        return list(frame.column(column).to_pylist())
    values = frame[column]
    found = values.to_list()
    return [None if type(value).__name__ == "NAType" else value for value in found]


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_kernels_in_each_library(trace: Trace, library: str) -> None:
    pytest.importorskip({"arrow": "pyarrow"}.get(library, library))
    frame = getattr(trace, f"to_{library}")()
    assert {key: listed(frame, key) for key in KERNELS} == KERNELS


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("table", frames.TABLES)
def test_each_table_has_its_rows_in_each_library(trace: Trace, table: str, library: str) -> None:
    pytest.importorskip({"arrow": "pyarrow"}.get(library, library))
    rows = getattr(trace, table)
    frame = getattr(rows, f"to_{library}")()
    assert listed(frame, "row") == list(range(len(rows)))
    assert listed(frame, "name") == [row.name for row in rows]


def test_ops_know_parent_and_forward(trace: Trace) -> None:
    ops = frames.columns(trace, "ops")
    assert ops["name"].values == ["aten::linear", "aten::mm", "MmBackward0"]
    assert ops["parent"].values == [None, 0, None]
    assert ops["forward"].values == [None, None, 1]


def test_regions_count_what_they_hold(trace: Trace) -> None:
    regions = frames.columns(trace, "regions")
    found = {key: regions[key].values for key in ("name", "cpu_ns", "gpu_busy_ns", "kernels", "launches")}
    assert found == {
        "name": ["fwd"],
        "cpu_ns": [80_000],
        "gpu_busy_ns": [20_000],
        "kernels": [1],
        "launches": [1],
    }


def test_some_rows_keep_their_numbers(trace: Trace) -> None:
    pytest.importorskip("polars")
    assert trace.kernels[1:].to_polars()["row"].to_list() == [1]
    assert trace.regions[0].kernels.to_polars()["name"].to_list() == ["toy_gemm"]


def test_streams_with_names_are_text() -> None:
    named = work("kernel", "k", 1, 2, stream="compute")  # type: ignore[arg-type]
    stream = frames.columns(read(named, kernel("k", 5, 2)), "kernels")["stream"]
    assert (stream.kind, stream.values) == ("text", ["compute", "7"])


def test_unknown_table(trace: Trace) -> None:
    with pytest.raises(UsageError, match="no table 'events'; there are ops, launches, kernels, regions"):
        trace.to_pandas("events")


def test_missing_library_names_the_command() -> None:
    with pytest.raises(MachineError, match=r"no_such_library is not installed: pip install 'rung\[sql\]'"):
        frames.library("no_such_library", "sql")


@pytest.mark.parametrize("table", frames.TABLES)
def test_the_document_lists_every_column(trace: Trace, table: str) -> None:
    section = DOC.read_text().split(f"\n## {table}\n")[1].split("\n## ")[0]
    documented = re.findall(r"^\| `(\w+)` \| (\w+) \|", section, re.MULTILINE)
    assert documented == [(key, column.kind) for key, column in frames.columns(trace, table).items()]
