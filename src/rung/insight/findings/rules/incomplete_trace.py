"""The recording is not whole."""

from __future__ import annotations

from collections.abc import Iterator

from rung import units
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
    count = warning.count
    if warning.code == "unlinked":
        pieces = units.count(count, "piece")
        return f"{pieces} of GPU work without a launch: it came before the window, or the link was lost"
    if warning.code == "launch-without-kernel":
        _, colon, where = warning.message.partition(": ")
        return f"{units.count(count, 'launch')} without GPU work{colon}{where}"
    where = f", first at byte {warning.offset}" if warning.offset is not None else ""
    return f"{warning.code} x{count}: {warning.message}{where}"


RULE = Rule(
    id="incomplete-trace",
    topic="recording",
    shows="Launches without kernels, kernels without launches, damaged or missing text.",
    means="The recording is not whole.",
    do="Trust no count blindly; record again.",
    find=find,
)
