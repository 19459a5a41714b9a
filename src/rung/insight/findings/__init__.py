"""Findings: what an expert would say about a trace. Each rule is a file in `rules/`, found by its id."""

from __future__ import annotations

from rung.insight.findings.case import Case as Case
from rung.insight.findings.case import examine as examine
from rung.insight.findings.finding import Finding as Finding
from rung.insight.findings.finding import Severity as Severity
from rung.insight.findings.finding import Sighting as Sighting
from rung.insight.findings.registry import explanations as explanations
from rung.insight.findings.registry import findings as findings
from rung.insight.findings.registry import rules as rules
from rung.insight.findings.rule import Rule as Rule
from rung.insight.findings.rule import Topic as Topic

__all__ = [
    "Case",
    "Finding",
    "Rule",
    "Severity",
    "Sighting",
    "Topic",
    "examine",
    "explanations",
    "findings",
    "rules",
]
