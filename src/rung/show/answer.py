"""The answer to an SQL query."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from rich.console import RenderableType

from rung.insight.sql import Answer
from rung.show.fitting import table
from rung.show.plain import plain


def page(answer: Answer) -> RenderableType:
    """A table; numbers to the right, nothing where there is none."""
    numeric = [
        i for i in range(len(answer.columns)) if any(isinstance(row[i], int | float) for row in answer.rows)
    ]
    made = table(*answer.columns, right=numeric)
    for row in answer.rows:
        made.add_row(*(plain("" if value is None else str(value)) for value in row))
    return made


def as_json(answer: Answer) -> dict[str, Any]:
    """Column names, and a list for each row."""
    return {"columns": answer.columns, "rows": [[_value(value) for value in row] for row in answer.rows]}


def _value(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, list | tuple):
        return [_value(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _value(one) for key, one in value.items()}
    if isinstance(value, date | timedelta) or not isinstance(value, str | int | float | None):
        return str(value)
    return value
