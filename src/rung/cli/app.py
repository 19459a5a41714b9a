"""The `rung` command: one verb a file, and one place where errors become exit codes."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import Any

import typer

from rung.cli.climb import climb
from rung.cli.diff import diff
from rung.cli.guess import guess
from rung.cli.name import name
from rung.cli.read import read
from rung.cli.record import RecordCommand, record
from rung.errors import RungError
from rung.show.plain import printable

app = typer.Typer(
    name="rung",
    help="From nn.Linear to a fused MLP, one rung at a time: guess first, then look.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich help would cost a third of the start-up time
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("climb")(climb)
app.command("record", cls=RecordCommand)(record)
app.command("read")(read)
app.command("diff")(diff)
app.command("guess")(guess)
app.command("name")(name)

INTERRUPTED = 130

UsageMistake: Any = typer.BadParameter.__mro__[1]
"""Click's UsageError. Typer may carry a click of its own, so it is taken from where both kinds agree."""


def main() -> None:
    """Run the command line. An error is one line on stderr and its exit code, never a traceback."""
    if isinstance(sys.stdout, TextIOWrapper):  # a terminal without µ gets \xb5
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run with these arguments; returns the exit code."""
    if not arguments:  # asked for nothing: say what there is
        arguments = ["--help"]
    try:
        code = app(arguments, standalone_mode=False, prog_name="rung")
        sys.stdout.flush()
    except RungError as error:
        return _say(str(error), error.exit_code)
    except UsageMistake as error:
        where = error.ctx.command_path if error.ctx else "rung"
        return _say(f"{error.format_message().rstrip('.')}; see {where} --help", error.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        return _say("interrupted", INTERRUPTED)
    except BrokenPipeError:  # the reader of our output went away: nothing left to say
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code if isinstance(code, int) else 0


def _say(message: str, code: int) -> int:
    """The message on one line of stderr; the code."""
    print(f"rung: {printable(message.replace(chr(10), ' '))}", file=sys.stderr)
    return code
