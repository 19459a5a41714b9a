"""Neighbouring kernels that pass a tensor through memory."""

from __future__ import annotations

from collections.abc import Iterator

from rung import units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.findings.savings import less, places, savings
from rung.insight.opportunities import Opportunity


def find(case: Case) -> Iterator[Sighting]:
    return savings(case, "chain", _title, _advice)


def _title(one: Opportunity) -> str:
    ops = units.listing([str(op) for op in one.ops])
    name = f"{one.what}: {ops}" if one.what else ops
    trips = units.size(one.prediction.saved_bytes)
    said = f"{name} pass tensors through memory, {trips} that one kernel would not move{places(one)}"
    if one.prediction.saved_ns is None:
        return said
    return f"{said}: about {less(one)}"


def _advice(one: Opportunity) -> str:
    return f"Make one kernel of the {len(one.ops)}: {one.who}. Predicted for {one.prediction.assumption}."


RULE = Rule(
    id="fusible-chain",
    topic="fusion",
    shows="Neighbouring pointwise or reduction kernels, one of which reads what another has just written.",
    means="A tensor makes a round trip through memory that one kernel for both would save.",
    do="Let torch.compile make one kernel of them, or on a GPU Liger or rung.glu; check it with `rung diff`.",
    find=find,
    explains=True,
)
