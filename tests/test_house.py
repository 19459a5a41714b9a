"""The house rules that a machine can check: lint, format, types, the arrows between rooms."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("mypy",),
        ("lint-imports",),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_tool_has_nothing_to_say(command: tuple[str, ...]) -> None:
    done = run(str(BIN / command[0]), *command[1:])
    assert done.returncode == 0, done.stdout + done.stderr


def test_import_takes_no_heavy_module() -> None:
    heavy = "{'torch', 'triton', 'numpy', 'msgspec', 'rich', 'typer'}"
    done = run(sys.executable, "-c", f"import sys, rung; print(sorted({heavy} & set(sys.modules)))")
    assert done.stdout.strip() == "[]", done.stderr


def test_reading_takes_no_torch() -> None:
    code = "import sys, rung; rung.read, rung.diff, rung.guess; print('torch' in sys.modules)"
    assert run(sys.executable, "-c", code).stdout.strip() == "False"


def test_help_imports_nothing_slow() -> None:
    """`rung --help` answers at once because the verbs import what they need when they run."""
    code = (
        "import sys\nfrom rung.cli.app import run\nrun(['--help'])\n"
        "print(sorted({'torch', 'numpy', 'msgspec'} & set(sys.modules)), file=sys.stderr)"
    )
    assert run(sys.executable, "-c", code).stderr.strip() == "[]"


def test_public_face_is_what_all_says() -> None:
    import rung

    assert [name for name in dir(rung) if not name.startswith("_")] == sorted([*rung.__all__, "glu"])
    assert rung.read is rung.read  # the lazy name settles on one function
    assert callable(rung.read)
    assert callable(rung.diff)
    with pytest.raises(AttributeError, match="no_such_name"):
        rung.no_such_name  # noqa: B018
