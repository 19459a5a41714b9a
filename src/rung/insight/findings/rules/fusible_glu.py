"""A gated MLP whose gate and up products could be one kernel with the activation in its epilogue."""

from __future__ import annotations

from collections.abc import Iterator

from rung import units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.findings.savings import less, places, savings
from rung.insight.opportunities import Opportunity


def find(case: Case) -> Iterator[Sighting]:
    return savings(case, "glu", _title, _advice)


def _title(one: Opportunity) -> str:
    rest = units.listing(_between(one))
    what = f"a GLU: two GEMMs of one input and {rest} could be one kernel{places(one)}"
    memory = f"{units.size(one.prediction.saved_bytes)} less through memory"
    if one.prediction.saved_ns is None:
        return f"{what}: {memory}"
    return f"{what}: about {less(one)}, {memory}"


def _between(one: Opportunity) -> list[str]:
    """The ops that are no products."""
    return [op for op in one.ops if op not in _PRODUCTS]


_PRODUCTS = ("mm", "addmm", "linear", "matmul", "bmm")


def _advice(one: Opportunity) -> str:
    use = f"Use {one.who}, which loads the same weights"
    if one.prediction.saved_ns is None:
        return f"{use}; what that saves cannot be said: {one.prediction.assumption}."
    return f"{use}. Predicted as if {one.prediction.assumption}."


RULE = Rule(
    id="fusible-glu",
    topic="fusion",
    shows="Two matrix products of one input, an activation, their product, and a matrix product of that.",
    means="Gate, up and the activation are written to memory only to be read back at once.",
    do="Compute gate, up and their product in one kernel: rung.glu.GLUMLP.",
    find=find,
)
