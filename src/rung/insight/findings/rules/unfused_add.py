"""Adds that the product before them could do."""

from __future__ import annotations

from collections.abc import Iterator

from rung import units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.findings.savings import places, savings
from rung.insight.opportunities import Opportunity


def find(case: Case) -> Iterator[Sighting]:
    return savings(case, "epilogue", _title, _advice)


def _title(one: Opportunity) -> str:
    said = f"a {one.what} has a kernel of its own, right behind the GEMM whose result it reads{places(one)}"
    if one.prediction.saved_ns is None:
        return said
    return f"{said}: about {units.duration(one.saved_ns)} less in the GEMM's epilogue"


def _advice(one: Opportunity) -> str:
    return f"Use {one.who}. Predicted as if {one.prediction.assumption}."


RULE = Rule(
    id="unfused-add",
    topic="fusion",
    shows="An add right behind the matrix product whose result it reads.",
    means="The result is written, read and written again; a GEMM can add as it writes.",
    do="Give nn.Linear its bias; add onto a residual in place with addmm_, or compile with max-autotune.",
    find=find,
)
