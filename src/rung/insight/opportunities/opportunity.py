"""What a fusion would save: a guess to be checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rung.insight.tensors import Tensor

Kind = Literal["chain", "glu", "attention", "projections", "epilogue"]


@dataclass(frozen=True, slots=True)
class Prediction:
    """What one kernel in the place of several saves: ns, bytes through memory, launches.

    `saved_ns` is None where no speed of memory is known. `assumption` says what it rests on.
    """

    saved_ns: int | None
    saved_bytes: int
    saved_launches: int
    assumption: str


@dataclass(frozen=True, slots=True)
class Opportunity:
    """Rows of a forward that one kernel could do, in one place or in several alike (a model's layers).

    `places` holds each place's rows; `ops` and `tensors`, which pass between them through memory, are those
    of one place; `now_ns` and `prediction` count all places. `what` is the pattern's name where it has one,
    `who` does it.
    """

    kind: Kind
    what: str
    places: tuple[tuple[int, ...], ...]
    ops: tuple[str, ...]
    tensors: tuple[Tensor, ...]
    now_ns: int
    prediction: Prediction
    who: str

    @property
    def saved_ns(self) -> int:
        """0 where it cannot be said."""
        return self.prediction.saved_ns or 0
