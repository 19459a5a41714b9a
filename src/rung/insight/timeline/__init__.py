"""When everything ran, as lanes of spans: what a drawing needs, and nothing of how it looks."""

from __future__ import annotations

from rung.insight.timeline.lanes import BUDGET as BUDGET
from rung.insight.timeline.lanes import Lane as Lane
from rung.insight.timeline.lanes import Timeline as Timeline
from rung.insight.timeline.lanes import timeline as timeline

__all__ = ["BUDGET", "Lane", "Timeline", "timeline"]
