"""What to share, what to take out of it first, and the links to it."""

from __future__ import annotations

from rung.sharing.finding import traces_in as traces_in
from rung.sharing.plan import Plan as Plan
from rung.sharing.plan import planned as planned
from rung.sharing.scrubbing import Scrubbed as Scrubbed
from rung.sharing.scrubbing import scrub as scrub
from rung.sharing.shared import Shared as Shared
from rung.sharing.shared import shared as shared

__all__ = ["Plan", "Scrubbed", "Shared", "planned", "scrub", "shared", "traces_in"]
