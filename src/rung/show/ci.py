"""Verdicts where CI shows them: annotations at a guess's line, a step summary in Markdown."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rung.insight.gate import GateCheck, GateVerdict
from rung.insight.guess import Verdict
from rung.insight.guessing.places import Place
from rung.insight.guessing.wants import cut
from rung.show.markdown import escaped, table_row


@dataclass(frozen=True, slots=True)
class Annotation:
    """One error on a line of a file; without a file it belongs to the run."""

    message: str
    title: str
    file: str | None = None
    line: int = 0
    column: int = 0

    def command(self) -> str:
        """As a workflow command of GitHub Actions."""
        where = f"file={_property(_near(self.file))},line={self.line},col={self.column}," if self.file else ""
        return f"::error {where}title={_property(self.title)}::{_data(self.message)}"


def of_verdict(verdict: Verdict, title: str) -> list[Annotation]:
    """One for each line of the guess that does not hold, or one for the whole."""
    found = [
        _annotation(row.place, f"{section.title}: {row.label}, but got {row.got}", row.evidence, title)
        for section in verdict.sections()
        for row in section.rows
        if not row.held
    ]
    return found if found or verdict.held else [Annotation(verdict.conclusion, title)]


def of_gate(verdict: GateVerdict, title: str) -> list[Annotation]:
    """One for each line of the gate that does not hold, or one for the whole."""
    found = []
    for check in verdict.checks:
        if not check.held:
            base, new, difference = check.shown()
            moved = f"{base} -> {new} ({difference})" if base else difference
            found.append(
                _annotation(check.place, f"{check.region}: {check.line}, but {moved}", check.why(), title)
            )
    return found if found or verdict.held else [Annotation(verdict.conclusion, title)]


def verdict_markdown(verdict: Verdict, title: str) -> str:
    """A guess's verdict for a step summary."""
    rows = [
        (section.title, row.label, row.got, "yes" if row.held else "**no**", row.evidence)
        for section in verdict.sections()
        for row in section.rows
    ]
    body = _table(("region", "expected", "got", "held", ""), rows) if rows else ""
    return _page(title, verdict.notes, body, verdict.conclusion)


def gate_markdown(verdict: GateVerdict, title: str, changed: Sequence[str] = ()) -> str:
    """A gate's verdict for a step summary: the table of what changed, then the changes in sentences."""
    rows = [(check.region, check.line, *check.shown(), *_held(check)) for check in verdict.checks]
    body = _table(("region", "gate", "base", "new", "change", "held", ""), rows) if rows else ""
    if changed:
        body += "\nWhat changed:\n\n" + "".join(f"- {escaped(sentence)}\n" for sentence in changed)
    return _page(title, verdict.notes, body, verdict.conclusion)


def on_github(switch: bool | None = None) -> bool:
    """What the switch says; without one, whether this runs in GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true" if switch is None else switch


def summary_path(given: Path | None, github: bool) -> Path | None:
    """Where the step summary goes: the file that was named, else the one that GitHub names."""
    named = os.environ.get("GITHUB_STEP_SUMMARY")
    return given or (Path(named) if github and named else None)


def add_summary(path: Path, markdown: str) -> None:
    """Append to a step summary. A file that cannot be written is a UsageError."""
    from rung.errors import UsageError

    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(markdown)
    except OSError as error:
        raise UsageError(f"the summary cannot be written to {path}: {error.strerror}") from error


def _held(check: GateCheck) -> tuple[str, str]:
    return ("yes", "") if check.held else ("**no**", check.why())


def _annotation(place: Place | None, message: str, more: str, title: str) -> Annotation:
    message = f"{message}: {more}" if more else message
    if place is None:
        return Annotation(message, title)
    return Annotation(message, title, place.file, place.line, place.column)


def _page(title: str, notes: Iterable[str], body: str, conclusion: str) -> str:
    said = "".join(f"{escaped(note)}\n\n" for note in notes)
    return f"### {escaped(title)}\n\n{said}{body}\n{escaped(conclusion)}\n\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([escaped(cut(cell)) for cell in row] for row in rows)]
    return "".join(map(table_row, lines))


def _near(file: str | None) -> str:
    """Relative to where the workflow runs, which is how GitHub finds the file."""
    path = Path(file or "").absolute()
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else str(file)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
