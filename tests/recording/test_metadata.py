"""The command line as a trace remembers it: the program's name, nobody's folders."""

from __future__ import annotations

from pathlib import Path

from rung.recording.metadata import command


def test_program_keeps_its_name_alone() -> None:
    assert command(["/somewhere/bin/rung", "climb", "mlp"]) == "rung climb mlp"


def test_module_is_named_as_it_was_started() -> None:
    assert command(["/somewhere/rung/__main__.py", "climb"]) == "python -m rung climb"


def test_folders_are_shortened() -> None:
    inside, home = f"{Path.cwd()}/model.py:make", f"{Path.home()}/model.py"
    assert command(["rung", "record", inside]) == "rung record model.py:make"
    if Path.home() not in Path.cwd().parents:
        assert command(["rung", "record", home]) == "rung record ~/model.py"
