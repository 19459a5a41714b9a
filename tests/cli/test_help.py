"""What the command line says of itself, and how what it prints ends."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.text import Text

import rung
from rung.cli.app import run
from rung.cli.console import PlainConsole
from rung.show.fitting import table

VERBS = ("climb", "record", "read", "diff", "guess", "why", "show", "share", "convert", "name")


def test_it_says_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"rung {rung.__version__}\n"


def test_each_verb_has_a_whole_sentence_in_80_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["--help"]) == 0
    said = capsys.readouterr().out
    assert "one rung at a time: guess first, then look." in said
    for verb in VERBS:
        (sentence,) = re.findall(rf"^  {verb} +(.*)$", said, re.MULTILINE)
        assert sentence.endswith(".")
        assert not sentence.endswith("..")


def test_a_column_is_not_filled_with_blanks_at_the_end_of_a_line(tmp_path: Path) -> None:
    made = table("name", "what")
    made.add_row("a", "a wide one")
    made.add_row("b", "", style="bold")
    made.add_row(Text("c  d"), Text(" x  "))
    path = tmp_path / "page.txt"
    with path.open("w") as page:
        PlainConsole(file=page, width=60).print(made, Text("end  "))
    assert path.read_text().splitlines() == ["name  what", "a     a wide one", "b", "c  d   x", "end"]


def test_nor_is_a_line_that_had_to_be_broken(tmp_path: Path) -> None:
    path = tmp_path / "page.txt"
    with path.open("w") as page:
        PlainConsole(file=page, width=9).print("or 214 µs with it", Text("or 214 µs with it", style="bold"))
    assert not [line for line in path.read_text().splitlines() if line != line.rstrip()]
    assert path.read_text().split() == ["or", "214", "µs", "with", "it"] * 2
