"""A guess in the terminal: the questions before, the verdict after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from rung.errors import UsageError
from rung.insight.guess import Guess, Verdict, guess
from rung.insight.guessing import words
from rung.insight.guessing.verdict import widths, yes_no
from rung.show.plain import plain, printable, visible


@dataclass(frozen=True, slots=True)
class Question:
    """What to ask, and the key of a guess that the answer is for."""

    key: str
    text: str


QUESTIONS = (
    Question("kernels", "how many kernels does it run?"),
    Question("gemm", "of these, how many are GEMMs?"),
    Question("pointwise", "and how many are pointwise?"),
)

_LEAD = "Before you look: "
_SKIP = "  [Enter to skip] "


def ask(
    console: Console, questions: Sequence[Question] = QUESTIONS, region: str | None = None
) -> Guess | None:
    """Ask before looking; an answer is a number or a comparison (`>= 3`). None if all were skipped."""
    answered: Guess | None = None
    for number, question in enumerate(questions):
        lead = _LEAD if number == 0 else " " * len(_LEAD)
        prompt = Text.assemble(lead, question.text, (_SKIP, "dim"))
        try:
            one = _answer(console, prompt, question.key, region)
        except EOFError:
            break
        if one is not None:
            answered = one if answered is None else answered + one
    return answered


def _answer(console: Console, prompt: Text, key: str, region: str | None) -> Guess | None:
    while text := console.input(prompt).strip():
        try:
            return guess({key: text}, region=region)
        except UsageError as error:
            console.print(plain(str(error), "yellow"), soft_wrap=True)
    return None


def render(verdict: Verdict) -> Text:
    """The verdict as `str(verdict)` has it, with colour on the answers."""
    verdict = visible(verdict)
    text = Text()
    for note in verdict.notes:
        text.append(f"{note}\n", "dim")
    for section in verdict.sections():
        label, got = widths(section)
        text.append(f"{section.title}\n", "bold")
        for row in section.rows:
            text.append(f"  {row.label:<{label}}   {row.got:<{got}}   ")
            text.append(yes_no(row.held), "green" if row.held else "bold red")
            text.append(f"    {row.evidence}\n" if row.evidence else "\n", "dim")
    return text.append(verdict.conclusion, "green" if verdict.held else "bold red")


def in_words(wanted: Guess) -> list[str]:
    """A guess in plain words, by the place where each line counts."""
    lines: list[str] = []
    heading = ""
    for expectation in wanted.expectations:
        place = printable(words.place_in_words(expectation))
        if place != heading:
            lines.append(heading := place)
        lines.append(f"  {printable(words.in_words(expectation))}")
    return lines
