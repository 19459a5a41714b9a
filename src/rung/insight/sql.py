"""SQL over the tables of a trace, by DuckDB."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rung.errors import UsageError
from rung.trace import Trace
from rung.trace.frames import TABLES, columns, library, to_arrow


@dataclass(frozen=True, slots=True)
class Answer:
    columns: list[str]
    rows: list[tuple[Any, ...]]


def query(trace: Trace, text: str) -> Answer:
    """The answer to a query over `ops`, `launches`, `kernels` and `regions` (docs/tables.md).

    The query sees these tables and nothing else: no files, no network.

    Raises:
        UsageError: the query is wrong.
        MachineError: DuckDB or Arrow is not installed.
    """
    duckdb = library("duckdb", "sql")
    library("pyarrow", "sql")
    with duckdb.connect(":memory:", config={"enable_external_access": False}) as connection:
        for table in TABLES:
            connection.register(table, to_arrow(columns(trace, table)))
        try:
            result = connection.sql(text)
            if result is None:
                raise UsageError("the query answers nothing; ask for something: select ... from kernels.")
            return Answer(list(result.columns), result.fetchall())
        except duckdb.Error as error:
            raise UsageError(f"SQL: {' '.join(str(error).split())}") from None
