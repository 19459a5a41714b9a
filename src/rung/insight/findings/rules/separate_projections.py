"""Products of one input that could be one product."""

from __future__ import annotations

from collections.abc import Iterator

from rung import units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.insight.findings.savings import less, places, savings
from rung.insight.opportunities import Opportunity


def find(case: Case) -> Iterator[Sighting]:
    return savings(case, "projections", _title, _advice)


def _title(one: Opportunity) -> str:
    name = f" ({one.what}, by all looks)" if one.what else ""
    return (
        f"{len(one.ops)} GEMMs read one input{name}{places(one)}: as one GEMM about "
        f"{less(one)}, and "
        f"{units.count(one.prediction.saved_launches, 'launch')} fewer"
    )


def _advice(one: Opportunity) -> str:
    return f"Merge them into {one.who}. Predicted for {one.prediction.assumption}."


RULE = Rule(
    id="separate-projections",
    topic="fusion",
    shows="Three or more matrix products in a row that read one input.",
    means="The input is read once for each, and a narrow product fills the GPU less than a wide one.",
    do="Stack the weights into one linear and split its result.",
    find=find,
)
