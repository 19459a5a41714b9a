"""Attention written out, its scores in memory."""

from __future__ import annotations

from collections.abc import Iterator

from rung import units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.findings.savings import places, savings
from rung.insight.opportunities import Opportunity


def find(case: Case) -> Iterator[Sighting]:
    return savings(case, "attention", _title, _advice)


def _title(one: Opportunity) -> str:
    ops = units.listing([str(op) for op in one.ops])
    return (
        f"attention is written out as {ops}{places(one)}: its scores pass through memory, "
        f"about {units.duration(one.saved_ns)} of {units.duration(one.now_ns)}"
    )


def _advice(one: Opportunity) -> str:
    return f"Use {one.who}. Predicted as if {one.prediction.assumption}."


RULE = Rule(
    id="unfused-attention",
    topic="fusion",
    shows="Two batched matrix products with a softmax between them.",
    means="The scores, one number for each pair of positions, are written to memory and read back.",
    do="Use torch.nn.functional.scaled_dot_product_attention, which keeps them on the chip.",
    find=find,
)
