"""A gate's verdict in the terminal."""

from __future__ import annotations

from rich.text import Text

from rung.insight.gate import GateVerdict
from rung.show.plain import visible


def render(verdict: GateVerdict) -> Text:
    """The verdict as `str(verdict)` has it, with colour on the answers."""
    verdict = visible(verdict)
    *lines, conclusion = str(verdict).split("\n")
    text = Text()
    for note in lines[: len(verdict.notes)]:
        text.append(f"{note}\n", "dim")
    for check, line in zip(verdict.checks, lines[len(verdict.notes) :], strict=True):
        text.append(f"{line}\n", "" if check.held else "bold red")
    return text.append(conclusion, "green" if verdict.held else "bold red")
