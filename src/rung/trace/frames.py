"""The tables of a trace as data frames of pandas, polars or Arrow. docs/tables.md lists their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rung import names
from rung.errors import MachineError, UsageError
from rung.trace.tables import Ints
from rung.trace.views.kernel import NAME_CATEGORY

if TYPE_CHECKING:
    from rung.trace.model import Trace

TABLES = ("ops", "launches", "kernels", "regions")

Kind = Literal["int", "text", "bool", "float"]


@dataclass(frozen=True, slots=True)
class Column:
    """Values of one kind; None where there is none."""

    kind: Kind
    values: list[Any]


def columns(trace: Trace, table: str, rows: Ints | None = None) -> dict[str, Column]:
    """The columns of `ops`, `launches`, `kernels` or `regions`, of all rows or of some.

    Raises:
        UsageError: there is no such table.
    """
    if table not in TABLES:
        raise UsageError(f"there is no table {table!r}; there are {', '.join(TABLES)}.")
    chosen = np.arange(len(getattr(trace, table))) if rows is None else rows
    return _MADE_BY[table](trace, chosen)


def _ops(trace: Trace, rows: Ints) -> dict[str, Column]:
    table = trace.tables.ops
    threads = [table.thread[i] for i in rows.tolist()]
    return {
        "row": _ints(rows),
        "name": _text(table.name, rows),
        "start_ns": _ints(table.start_ns[rows]),
        "dur_ns": _ints(table.dur_ns[rows]),
        "pid": _ids(pid for pid, _ in threads),
        "tid": _ids(tid for _, tid in threads),
        "parent": _links(table.parent[rows]),
        "forward": _links(table.forward[rows]),
    }


def _launches(trace: Trace, rows: Ints) -> dict[str, Column]:
    table = trace.tables.launches
    return {
        "row": _ints(rows),
        "name": _text(table.name, rows),
        "start_ns": _ints(table.start_ns[rows]),
        "dur_ns": _ints(table.dur_ns[rows]),
        "op": _links(table.op[rows]),
        "op_name": _text(trace.tables.ops.name, table.op[rows]),
        "is_graph": Column("bool", table.graph[rows].tolist()),
        "occupancy_query": Column("bool", table.occupancy_query[rows].tolist()),
        "kernels": _ints(np.diff(trace.launch_work.offsets)[rows]),
    }


def _kernels(trace: Trace, rows: Ints) -> dict[str, Column]:
    table, chosen = trace.tables.kernels, rows.tolist()
    decoded = [_decoded(table.name[i], table.category[i]) for i in chosen]
    return {
        "row": _ints(rows),
        "name": _text(table.name, rows),
        "category": _text(table.category, rows),
        "kind": Column("text", [d.kind for d in decoded]),
        "family": Column("text", [d.family for d in decoded]),
        "start_ns": _ints(table.start_ns[rows]),
        "dur_ns": _ints(table.dur_ns[rows]),
        "raw_dur_ns": _ints(table.raw_dur_ns[rows]),
        "device": _ids(table.device[i] for i in chosen),
        "stream": _ids(table.stream[i] for i in chosen),
        "correlation": _ids(table.correlation[i] for i in chosen),
        "launch": _links(table.launch[rows]),
        "launch_name": _text(trace.tables.launches.name, table.launch[rows]),
        "op": _links(table.op[rows]),
        "op_name": _text(trace.tables.ops.name, table.op[rows]),
        "region": _links(table.region[rows]),
        "region_name": _text(trace.tables.regions.name, table.region[rows]),
        "step": _links(np.append(trace.tables.steps.number, -1)[table.step[rows]]),
    }


def _decoded(name: str, category: str) -> names.Decoded:
    return names.decode_op(name) if category == "op" else names.decode(name, NAME_CATEGORY[category])


def _regions(trace: Trace, rows: Ints) -> dict[str, Column]:
    table, regions = trace.tables.regions, trace.regions.select(rows)
    return {
        "row": _ints(rows),
        "name": _text(table.name, rows),
        "instance": Column("int", [trace.region_instance[i] for i in rows.tolist()]),
        "step": _links(table.step[rows]),
        "parent": _links(table.parent[rows]),
        "start_ns": _ints(table.start_ns[rows]),
        "cpu_ns": _ints(table.cpu_ns[rows]),
        "wall_ns": Column("int", [region.wall_ns for region in regions]),
        "gpu_busy_ns": Column("int", [region.gpu_busy_ns for region in regions]),
        "gpu_span_ns": Column("int", [region.gpu_span_ns for region in regions]),
        "gpu_idle_share": Column("float", [region.gpu_idle_share for region in regions]),
        "kernels": Column("int", [len(region.kernels) for region in regions]),
        "copies": Column("int", [len(region.copies) for region in regions]),
        "memsets": Column("int", [len(region.memsets) for region in regions]),
        "launches": Column("int", [len(region.launches) for region in regions]),
    }


_MADE_BY: dict[str, Callable[[Trace, Ints], dict[str, Column]]] = {
    "ops": _ops,
    "launches": _launches,
    "kernels": _kernels,
    "regions": _regions,
}


def _ints(values: Ints) -> Column:
    return Column("int", values.tolist())


def _links(values: Ints) -> Column:
    """Rows of another table, or numbers of steps: none where negative."""
    return Column("int", [value if value >= 0 else None for value in values.tolist()])


def _text(values: list[str], rows: Ints) -> Column:
    return Column("text", [values[i] if i >= 0 else None for i in rows.tolist()])


def _ids(values: Iterable[int | str | None]) -> Column:
    """Integers where all are; else text, for some recorders name threads and streams."""
    ids = list(values)
    if all(value is None or (isinstance(value, int) and abs(value) < 2**63) for value in ids):
        return Column("int", ids)
    return Column("text", [None if value is None else str(value) for value in ids])


def to_pandas(made: dict[str, Column]) -> Any:
    """A `pandas.DataFrame`, nullable types throughout."""
    pandas = library("pandas", "pandas")
    kinds = {"int": "Int64", "text": "string", "bool": "boolean", "float": "Float64"}
    return pandas.DataFrame({key: pandas.array(c.values, dtype=kinds[c.kind]) for key, c in made.items()})


def to_polars(made: dict[str, Column]) -> Any:
    """A `polars.DataFrame`."""
    polars = library("polars", "polars")
    kinds = {"int": polars.Int64, "text": polars.String, "bool": polars.Boolean, "float": polars.Float64}
    return polars.DataFrame([polars.Series(key, c.values, kinds[c.kind]) for key, c in made.items()])


def to_arrow(made: dict[str, Column]) -> Any:
    """A `pyarrow.Table`."""
    arrow = library("pyarrow", "arrow")
    kinds = {"int": arrow.int64(), "text": arrow.string(), "bool": arrow.bool_(), "float": arrow.float64()}
    return arrow.table({key: arrow.array(c.values, kinds[c.kind]) for key, c in made.items()})


def library(module: str, extra: str) -> Any:
    """A library that is not part of the base install.

    Raises:
        MachineError: it is not there; the message has the command that installs it.
    """
    try:
        return import_module(module)
    except ImportError:
        raise MachineError(f"{module} is not installed: pip install 'rung[{extra}]'.") from None
