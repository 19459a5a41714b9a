"""A rule: what a finding's id stands for, and the function that finds it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting

Topic = Literal["limit", "launch", "kernels", "fusion", "compiler", "data", "ranks", "recording"]


@dataclass(frozen=True, slots=True)
class Rule:
    """`shows`, `means` and `do` are one sentence each, for people: the trace shows ..., it means ..., do ....

    `find` is pure; it yields what it sees in any of the case's forwards or in the trace as a whole, each with
    its number, and nothing where the evidence is not there. `explains`: its titles make the list of kernels
    easier to read, so `rung read` and `rung climb` show them below it.
    """

    id: str
    topic: Topic
    shows: str
    means: str
    do: str
    find: Callable[[Case], Iterable[Sighting]]
    explains: bool = False
