"""A row of a table as an object, and a sequence of such rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from rung.trace import frames
from rung.trace.tables import Ints

if TYPE_CHECKING:
    from rung.trace.model import Trace

V = TypeVar("V", bound="View")


class View:
    """A row of one of the trace's tables."""

    __slots__ = ("row", "trace")

    def __init__(self, trace: Trace, row: int) -> None:
        self.trace = trace
        self.row = row

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, View)
            and type(other) is type(self)
            and other.trace is self.trace
            and other.row == self.row
        )

    def __hash__(self) -> int:
        return hash((type(self), id(self.trace), self.row))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.row}: {getattr(self, 'name', '')}>"


class Rows(Sequence[V], Generic[V]):
    """Some rows of one table, as views made on demand."""

    def __init__(self, trace: Trace, view: Callable[[Trace, int], V], rows: Ints) -> None:
        self._trace, self._view, self.rows = trace, view, rows

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> V: ...
    @overload
    def __getitem__(self, index: slice) -> Rows[V]: ...
    def __getitem__(self, index: int | slice) -> V | Rows[V]:
        if isinstance(index, slice):
            return Rows(self._trace, self._view, self.rows[index])
        return self._view(self._trace, int(self.rows[index]))

    def at(self, row: int | np.integer[Any]) -> V | None:
        """The view on a row of the table itself; None for row -1."""
        return self._view(self._trace, int(row)) if row >= 0 else None

    def select(self, rows: Ints) -> Rows[V]:
        """Other rows of the same table."""
        return Rows(self._trace, self._view, rows)

    def to_pandas(self) -> Any:
        """These rows as a `pandas.DataFrame`; docs/tables.md has its columns."""
        return frames.to_pandas(self._columns())

    def to_polars(self) -> Any:
        """These rows as a `polars.DataFrame`."""
        return frames.to_polars(self._columns())

    def to_arrow(self) -> Any:
        """These rows as a `pyarrow.Table`."""
        return frames.to_arrow(self._columns())

    def _columns(self) -> dict[str, frames.Column]:
        view = getattr(self._view, "__name__", "")
        return frames.columns(self._trace, "launches" if view == "Launch" else f"{view.lower()}s", self.rows)

    def __repr__(self) -> str:
        kind = self._view.__name__.lower() if isinstance(self._view, type) else "row"
        return f"<{len(self)} {'launche' if kind == 'launch' else kind}s>"
