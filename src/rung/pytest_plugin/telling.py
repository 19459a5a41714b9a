"""What pytest says about a guess: why it broke, what an update changed, what CI gets to see."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rung.insight.guess import Guess, Verdict
from rung.insight.guessing.blame import explain
from rung.recording import Recording
from rung.show import ci
from rung.trace import Trace

if TYPE_CHECKING:
    from rung.pytest_plugin.bench import Bench

PENDING: pytest.StashKey[list[str]] = pytest.StashKey()
"""The chain tree of the assertion that is failing: a section of the report, where pytest cuts nothing off."""
KEPT: pytest.StashKey[list[Path]] = pytest.StashKey()
MOST = 6
"""Lines of a verdict in the assertion itself: pytest shows eight unless asked for more."""


def compared(config: pytest.Config, left: object, right: object) -> list[str] | None:
    """Why a recording or trace and a guess are not equal; None for anything else."""
    wanted, thing = (left, right) if isinstance(left, Guess) else (right, left)
    if not isinstance(wanted, Guess) or not isinstance(thing, Recording | Trace):
        return None
    trace = thing if isinstance(thing, Trace) else thing.trace
    verdict = wanted.check(trace)
    what = f"{thing.name} ({thing.variant})" if isinstance(thing, Recording) else Path(trace.path).name
    config.stash[PENDING] = explanation(wanted, trace, verdict)
    broken = [
        f"{section.title}: {row.label}, but got {row.got}"
        for section in verdict.sections()
        for row in section.rows
        if not row.held
    ]
    return [f"the guess does not hold of {what}", *(broken[:MOST] or [verdict.conclusion])]


def explanation(wanted: Guess, trace: Trace, verdict: Verdict) -> list[str]:
    """The reason where there is one, and the chain tree with the work that broke a line."""
    reason = [verdict.conclusion] if verdict.reason else []
    return [*verdict.notes, *reason, *(explain(wanted.judge(trace)) if verdict.checks else [])]


def add_to(report: pytest.TestReport, item: pytest.Item, bench: Bench | None) -> None:
    """Put into a test's report what it told, as plain data: xdist sends it from worker to controller."""
    tree = item.config.stash.get(PENDING, None)
    if tree is not None:
        del item.config.stash[PENDING]
        if report.failed:
            report.sections.append(("rung: what ran", "\n".join(tree)))
    if bench is None:
        return
    _keep_traces(report, item, bench)
    if report.failed or bench.said:
        broken = [(name, verdict) for name, verdict in bench.judged if not verdict.held]
        annotations = [a for _, verdict in broken for a in ci.of_verdict(verdict, item.nodeid)]
        if report.failed and not annotations:
            annotations = [_where(report, item)]
        markdown = "".join(ci.verdict_markdown(verdict, f"{item.nodeid}, {name}") for name, verdict in broken)
        report.rung = {  # type: ignore[attr-defined]
            "annotations": [annotation.command() for annotation in annotations],
            "markdown": markdown,
            "said": bench.said,
        }


def summarize(terminal: pytest.TerminalReporter, config: pytest.Config, reports: Sequence[Any]) -> None:
    """What changed in guess files; for GitHub, annotations and the step summary."""
    said = list(dict.fromkeys(sentence for report in reports for sentence in report.rung["said"]))
    if said:
        terminal.write_sep("=", "rung: guess files")
        for sentence in said:
            terminal.write_line(sentence)
    switch = {"auto": None, "on": True, "off": False}[config.option.rung_github]
    if not ci.on_github(switch):
        return
    failed = [report for report in reports if report.outcome == "failed"]
    for report in failed:
        for command in report.rung["annotations"]:
            terminal.write_line(command)
    markdown = "".join(report.rung["markdown"] for report in failed)
    if markdown and (path := ci.summary_path(None, github=True)):
        ci.add_summary(path, markdown)


def _where(report: pytest.TestReport, item: pytest.Item) -> ci.Annotation:
    """An annotation at the assertion that failed, or at the test where the plugin itself failed it."""
    crash = getattr(report.longrepr, "reprcrash", None)
    message = crash.message if crash else report.longreprtext
    if crash and not Path(crash.path).is_relative_to(Path(__file__).parent):
        return ci.Annotation(message, item.nodeid, crash.path, crash.lineno, 1)
    return ci.Annotation(message, item.nodeid, str(item.path), (item.location[1] or 0) + 1, 1)


def _keep_traces(report: pytest.TestReport, item: pytest.Item, bench: Bench) -> None:
    """Copy the traces of a failing test; a test that passes when run again takes its own back."""
    earlier: list[Path] = item.stash.get(KEPT, [])
    for path in earlier:
        path.unlink(missing_ok=True)
    kept: list[Path] = []
    item.stash[KEPT] = kept
    folder = item.config.getoption("rung_trace_dir")
    if folder is None or not report.failed:
        return
    home = item.config.invocation_params.dir / folder
    home.mkdir(parents=True, exist_ok=True)
    stem = re.sub(r"[^\w.]+", "-", item.nodeid).strip("-")
    for number, recording in enumerate(bench.recordings):
        suffix = ".json.gz" if recording.path.name.endswith(".gz") else ".json"
        target = home / f"{stem}-{number}-{recording.variant}{suffix}"
        shutil.copyfile(recording.path, target)
        kept.append(target)
    if bench.recordings:
        report.sections.append(("rung: traces kept", "\n".join(map(str, kept))))
