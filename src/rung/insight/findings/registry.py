"""All rules, and what they find in a case."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import get_args

from rung.errors import UsageError
from rung.insight.findings import rules as folder
from rung.insight.findings.case import Case
from rung.insight.findings.finding import Finding, Sighting
from rung.insight.findings.rule import Rule, Topic

HEARD = 2
"""Sightings of one rule beside a list of kernels; `rung why` has them all."""


@cache
def rules() -> dict[str, Rule]:
    """By id, topic by topic. A file in `findings/rules/` is a rule: its `RULE`."""
    found = [
        import_module(f"{folder.__name__}.{module.name}").RULE for module in iter_modules(folder.__path__)
    ]
    order = get_args(Topic)
    return {rule.id: rule for rule in sorted(found, key=lambda rule: (order.index(rule.topic), rule.id))}


def findings(
    case: Case, *, only: Collection[str] = (), ignore: Collection[str] = (), min_share: float = 0.0
) -> tuple[Finding, ...]:
    """All that the rules see in a case, largest cost first; notes, which cost nothing, last.

    `only` and `ignore` are ids; a finding whose share is below `min_share` is left out.

    Raises:
        UsageError: there is no such id.
    """
    ignored = _known(ignore)
    chosen = [rule for rule in _known(only) or rules().values() if rule not in ignored]
    found = [_stamped(rule, case, seen) for rule in chosen for seen in rule.find(case)]
    return tuple(
        sorted((one for one in found if one.share >= min_share), key=lambda one: one.cost_ns, reverse=True)
    )


def explanations(case: Case) -> tuple[Finding, ...]:
    """What the rules that explain say of a case, in reading order: what to mistrust, then topic by topic.

    A rule that sees much, as in a model's many layers, is heard on its dearest sightings alone.
    """
    telling = [rule for rule in rules().values() if rule.explains]
    ids = [rule.id for rule in sorted(telling, key=lambda rule: rule.topic != "recording")]
    found = findings(case, only=ids)
    heard = [one for id_ in ids for one in [f for f in found if f.id == id_][:HEARD]]
    return tuple(sorted(heard, key=lambda one: (ids.index(one.id), -1 if one.step is None else one.step)))


def _known(given: Collection[str]) -> list[Rule]:
    ids = [given] if isinstance(given, str) else given
    for wanted in ids:
        if wanted not in rules():
            raise UsageError(f"there is no finding {wanted!r}; there are {', '.join(rules())}.")
    return [rules()[wanted] for wanted in ids]


def _stamped(rule: Rule, case: Case, seen: Sighting) -> Finding:
    wall = seen.wall_ns(case.trace)
    cost = min(max(seen.cost_ns, 0), wall)  # what streams do at once adds up to more than the time it takes
    return Finding(
        id=rule.id,
        title=seen.title,
        region=seen.region,
        step=seen.instance.step if seen.instance is not None else case.step,
        cost_ns=cost,
        share=cost / wall if wall else 0.0,
        evidence=seen.evidence,
        advice=seen.advice,
    )
