"""The `rung` command: one verb a file, and one place where errors become exit codes."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Annotated, Any

import typer

from rung.cli.climb import climb
from rung.cli.convert import convert
from rung.cli.diff import diff
from rung.cli.guess import guess
from rung.cli.name import name
from rung.cli.read import read
from rung.cli.record import RecordCommand, record
from rung.cli.share import share
from rung.cli.show import show
from rung.cli.streams import steady
from rung.cli.why import why
from rung.errors import MachineError, RungError, UsageError
from rung.show.plain import printable

app = typer.Typer(
    name="rung",
    help="From nn.Linear to a fused MLP, one rung at a time: guess first, then look.",
    epilog="Start with rung climb mlp --recorded h200: it needs no GPU and no torch.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich help would cost a third of the start-up time
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _say_version(wanted: bool) -> None:
    if wanted:
        from rung import __version__

        typer.echo(f"rung {__version__}")
        raise typer.Exit


@app.callback()
def _every_verb(
    version: Annotated[
        bool,
        typer.Option("--version", help="Say which version this is.", callback=_say_version, is_eager=True),
    ] = False,
) -> None:
    pass


app.command("climb")(climb)
app.command("record", cls=RecordCommand)(record)
app.command("read")(read)
app.command("diff")(diff)
app.command("guess")(guess)
app.command("why")(why)
app.command("show", short_help="Show traces as a page or a picture, side by side.")(show)
app.command("share")(share)
app.command("convert", short_help="Write a clean copy of traces, or of a part.")(convert)
app.command("name")(name)

INTERRUPTED = 130

UsageMistake: Any = typer.BadParameter.__mro__[1]
"""Click's UsageError. Typer may carry a click of its own, so it is taken from where both kinds agree."""


def main() -> None:
    """Run the command line. An error is one line on stderr and its exit code, never a traceback."""
    steady()
    code = run(sys.argv[1:])
    with suppress(RungError):  # what an error left in the buffer
        sys.stdout.flush()
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run with these arguments; returns the exit code."""
    try:
        code = _invoke(arguments or ["--help"])  # asked for nothing: say what there is
        sys.stdout.flush()
    except RungError as error:
        return _say(str(error), error.exit_code)
    except UsageMistake as error:
        where = error.ctx.command_path if error.ctx else " ".join(["rung", *_verb(arguments)])
        return _say(f"{_mistake(error)}; see {where} --help", error.exit_code)
    except (typer.Abort, EOFError, KeyboardInterrupt):
        return _say("interrupted", INTERRUPTED)
    except MemoryError:
        return _say("there is too little memory for this", MachineError.exit_code)
    except OSError as error:  # mostly a disk that is full
        where = f"{error.filename}: " if error.filename else ""
        return _say(f"{where}{error.strerror or error}", UsageError.exit_code)
    return code


def _invoke(arguments: list[str]) -> int:
    """Run a verb; its exit code. Called as a function, `app` would make codes of its own of an interrupt and
    of a closed pipe."""
    command = typer.main.get_command(app)
    try:
        with command.make_context("rung", list(arguments)) as context:
            command.invoke(context)
    except typer.Exit as left:
        return left.exit_code
    return 0


def _verb(arguments: list[str]) -> list[str]:
    return [one for one in arguments[:1] if one in {command.name for command in app.registered_commands}]


def _mistake(error: Any) -> str:
    """What Typer says; of a number its versions say different things."""
    said: str = error.format_message().rstrip(".")
    if "valid int" not in said:
        return said
    return f"{error.param.opts[0]} takes a whole number, such as 2"


def _say(message: str, code: int) -> int:
    """The message on one line of stderr; the code."""
    print(f"rung: {printable(message.replace(chr(10), ' '))}", file=sys.stderr)
    return code
