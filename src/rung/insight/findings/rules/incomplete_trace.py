"""The recording is not whole."""

from __future__ import annotations

from collections.abc import Iterator

from rung.insight.findings.case import Case
from rung.insight.findings.finding import Sighting
from rung.insight.findings.rule import Rule
from rung.trace import DAMAGE, Warning

PARTIAL = ("unlinked", "launch-without-kernel", "unfinished-event", "zero-time")


def find(case: Case) -> Iterator[Sighting]:
    trace = case.trace
    missing = [one for one in trace.warnings if one.code in DAMAGE or one.code in PARTIAL]
    if missing or trace.incomplete:
        yield Sighting(
            title="; ".join(map(_said, missing)) or str(trace.incomplete),
            advice="Trust no count blindly: record again, one step more than you look at.",
            evidence={
                **{one.code: one.count for one in missing},
                "skipped_events": trace.skipped_events,
                "repaired_events": trace.repaired_events,
            },
        )


def _said(warning: Warning) -> str:
    where = f", first at byte {warning.offset}" if warning.offset is not None else ""
    return f"{warning.count} {warning.message}{where}"


RULE = Rule(
    id="incomplete-trace",
    topic="recording",
    shows="Launches without kernels, kernels without launches, damaged or missing text.",
    means="The recording is not whole.",
    do="Trust no count blindly; record again.",
    find=find,
)
