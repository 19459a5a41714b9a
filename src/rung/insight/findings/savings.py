"""Opportunities as findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rung import units
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.forward import Forward
from rung.insight.opportunities import Opportunity

Say = Callable[[Opportunity], str]


def savings(case: Case, kind: str, title: Say, advice: Say) -> Iterator[Sighting]:
    """Every opportunity of a kind in every forward; its price is the time that it is predicted to save."""
    for forward, found in zip(case.forwards, case.opportunities, strict=True):
        for one in found:
            if one.kind == kind:
                yield Sighting(title(one), advice(one), forward, one.saved_ns, _evidence(forward, one))


def places(one: Opportunity) -> str:
    """Nothing for one place, `, in 16 places` for more."""
    return f", in {len(one.places)} places" if len(one.places) > 1 else ""


def less(one: Opportunity) -> str:
    """How much of the time that it takes now is predicted to go."""
    return f"{units.duration(one.saved_ns)} less of {units.duration(one.now_ns)}"


def _evidence(forward: Forward, one: Opportunity) -> dict[str, object]:
    return {
        "pattern": one.what or None,
        "ops": list(one.ops),
        "kernels": [forward.rows[row].name for row in one.places[0]],
        "places": len(one.places),
        "tensors": [{"shape": list(t.shape), "dtype": t.dtype, "bytes": t.nbytes} for t in one.tensors],
        "now_ns": one.now_ns,
        "saved_ns": one.prediction.saved_ns,
        "saved_bytes": one.prediction.saved_bytes,
        "saved_launches": one.prediction.saved_launches,
        "assumption": one.prediction.assumption,
    }
