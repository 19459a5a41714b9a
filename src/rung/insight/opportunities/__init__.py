"""Opportunities: what a fusion would save in a forward, as guesses to be checked."""

from __future__ import annotations

from rung.insight.opportunities.find import opportunities as opportunities
from rung.insight.opportunities.opportunity import Opportunity as Opportunity
from rung.insight.opportunities.opportunity import Prediction as Prediction
from rung.insight.opportunities.predict import as_one_kernel as as_one_kernel
from rung.insight.opportunities.setting import Setting as Setting
from rung.insight.opportunities.setting import setting as setting

__all__ = ["Opportunity", "Prediction", "Setting", "as_one_kernel", "opportunities", "setting"]
