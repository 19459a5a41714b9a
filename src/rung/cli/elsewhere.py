"""`--on hf-jobs[:FLAVOR]` and `--on ssh:HOST`: the same command on another machine, its recordings here."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rung.elsewhere import Errand, Target
    from rung.ladder import LinearFacts, Rung
    from rung.ladder.story import Source

On = Annotated[
    str | None,
    typer.Option(
        "--on", help="Run it elsewhere and bring the traces back: hf-jobs, hf-jobs:FLAVOR, ssh:HOST."
    ),
]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        help="With --on, the Rung that runs there: `this`, a wheel, or a URL or version that pip takes. "
        "[default: this on hf-jobs, the one that is there on ssh]",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="With --on, start what costs money without asking.")]

THIS = "this"
STAYS_HERE = ("on", "package", "yes", "out", "json")
"""Options that do not travel: where to run, and what to do with what comes back."""
TOLD_HERE = ("guess", "no_guess", "html")
ANSWER = ("--json", "--out", "traces")
"""How the command has to answer there; `rung.elsewhere.errand` has the names."""


def climb(
    ctx: typer.Context, rung: Rung, on: str, package: str | None, yes: bool, out: Path
) -> tuple[list[Source], LinearFacts | None]:
    """Climbs the rung there; its traces here, and what was found about strides.

    Raises:
        UsageError: where to is not understood, or nobody answers whether it may cost something.
        MachineError: that machine is not reached, or failed.
    """
    from msgspec import convert

    from rung.ladder import LinearFacts
    from rung.ladder.story import Source

    arguments = ("climb", rung.name, *given(ctx, STAYS_HERE + TOLD_HERE), "--no-guess", *ANSWER)
    said = _carry_out(arguments, (), on, package, yes, out)
    found = [
        Source(one["scene"], one["name"], one["trace"] and Path(one["trace"]), one["skipped"])
        for one in said["variants"]
    ]
    return found, convert(said["layouts"], LinearFacts | None)


def record(
    ctx: typer.Context, target: str, on: str, package: str | None, yes: bool, out: Path
) -> dict[str, Any]:
    """Records the target there; what `rung record --json` says, with the paths here. Raises as `climb`."""
    place = _place(target)
    file = _file_of(place, on)
    there = target if file is None else file.name + target.removeprefix(place)
    arguments = ("record", *given(ctx, STAYS_HERE), *ANSWER, there, *ctx.args)
    return _carry_out(arguments, () if file is None else (file,), on, package, yes, out)


def given(ctx: typer.Context, without: Collection[str]) -> list[str]:
    """The options that were given, as they would be written again."""
    return [
        part
        for option in ctx.command.params
        if option.name is not None and option.param_type_name == "option" and option.name not in without
        if (source := ctx.get_parameter_source(option.name)) is not None and source.name == "COMMANDLINE"
        for part in _written(option, ctx.params[option.name])
    ]


def _written(option: Any, value: Any) -> Iterator[str]:
    if option.is_flag:
        yield option.opts[0] if value else option.secondary_opts[0]
        return
    for one in value if option.multiple else [value]:
        yield from (option.opts[0], str(one))


def _place(target: str) -> str:
    """`work.py` of `work.py:make`, and of `work.py`, a script."""
    from rung.recording.targets import names_a_script

    return target if names_a_script(target) else target.rpartition(":")[0]


def _file_of(place: str, on: str) -> Path | None:
    """The file that travels; a module has to be there already.

    Raises:
        UsageError: there is no such file; or a job, which starts from nothing, would lack the module.
    """
    from rung.errors import UsageError

    if place.endswith(".py"):
        if not Path(place).is_file():
            raise UsageError(f"there is no file {place}")
        return Path(place)
    if on.startswith("hf-jobs"):
        raise UsageError(f"a job has no module {place!r}: only one file travels; give file.py:factory.")
    return None


def _carry_out(
    arguments: tuple[str, ...], files: tuple[Path, ...], on: str, package: str | None, yes: bool, out: Path
) -> dict[str, Any]:
    from tempfile import TemporaryDirectory

    from rung.elsewhere import Errand, back, own_wheel, parse
    from rung.elsewhere.errand import package_of
    from rung.elsewhere.target import HF_JOBS
    from rung.recording.artifacts import check_writable

    target = parse(on)
    check_writable(out)
    if package is None and target.kind == HF_JOBS:
        package = THIS
    with TemporaryDirectory() as here:
        if package == THIS:
            chosen: Path | str | None = own_wheel(Path(here))
        else:
            chosen = None if package is None else package_of(package)
        came = Path(here) / "back"
        came.mkdir()
        _run(Errand(arguments, chosen, files), target, yes, came)
        return back.take(came, out)


def _run(errand: Errand, target: Target, yes: bool, into: Path) -> None:
    from rung.cli.output import stderr
    from rung.cli.streams import agreed
    from rung.elsewhere.target import HF_JOBS

    def say(line: str) -> None:
        stderr().print(line)

    if target.kind == HF_JOBS:
        from rung.elsewhere import hf_jobs

        offer = hf_jobs.offer(target.name)
        say(str(offer))
        agreed("start it", yes)
        hf_jobs.run(errand, offer, into, say)
    else:
        from rung.elsewhere import ssh

        ssh.run(errand, target.name, into, say)
