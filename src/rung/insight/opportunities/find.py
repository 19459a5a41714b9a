"""All opportunities of a forward, alike ones counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rung.insight.opportunities.between import attentions, glus
from rung.insight.opportunities.chains import chains
from rung.insight.opportunities.epilogues import epilogues
from rung.insight.opportunities.opportunity import Opportunity
from rung.insight.opportunities.projections import projections
from rung.insight.opportunities.setting import setting
from rung.insight.roofline import Roofline


def opportunities(roofline: Roofline) -> tuple[Opportunity, ...]:
    """What fusing would save in one forward, the largest saving first.

    They are alternatives as well as additions: the chain between the products of a GLU is a part of the GLU.
    """
    at = setting(roofline)
    gated = list(glus(at))
    taken = frozenset(row for one in gated for rows in one.places for row in rows)
    found = [*gated, *attentions(at), *chains(at), *projections(at, taken), *epilogues(at)]
    return tuple(sorted(_counted(found), key=lambda one: one.saved_ns, reverse=True))


def _counted(found: Iterable[Opportunity]) -> list[Opportunity]:
    """Alike places as one opportunity: a model has a layer's once in each layer."""
    alike: dict[object, list[Opportunity]] = {}
    for one in found:
        alike.setdefault((one.kind, one.what, one.ops, tuple(t.shape for t in one.tensors)), []).append(one)
    return [_together(places) for places in alike.values()]


def _together(places: list[Opportunity]) -> Opportunity:
    first = places[0]
    known = [one.prediction.saved_ns for one in places if one.prediction.saved_ns is not None]
    return replace(
        first,
        places=tuple(rows for one in places for rows in one.places),
        now_ns=sum(one.now_ns for one in places),
        prediction=replace(
            first.prediction,
            saved_ns=sum(known) if known else None,
            saved_bytes=sum(one.prediction.saved_bytes for one in places),
            saved_launches=sum(one.prediction.saved_launches for one in places),
        ),
    )
