"""The `rung` command: one verb a file, and one place where errors become exit codes."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer

from rung.cli.climb import climb
from rung.cli.diff import diff
from rung.cli.guess import guess
from rung.cli.name import name
from rung.cli.read import read
from rung.cli.record import RecordCommand, record
from rung.errors import RungError

app = typer.Typer(
    name="rung",
    help="From nn.Linear to a fused MLP, one rung at a time: guess first, then look.",
    no_args_is_help=True,
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
    """Run the command line. A `RungError` is one line on stderr and its exit code, never a traceback."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run with these arguments; returns the exit code."""
    try:
        code = app(arguments, standalone_mode=False)
    except RungError as error:
        print(f"rung: {error}", file=sys.stderr)
        return error.exit_code
    except UsageMistake as error:
        error.show()
        return int(error.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        print("rung: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output went away: nothing left to say
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code if isinstance(code, int) else 0
