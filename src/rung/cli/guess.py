"""`rung guess TRACE`: hold a trace against a written guess."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rung.insight.guess import Guess, Verdict
    from rung.trace import Trace


def guess(
    trace: Annotated[str, typer.Argument(help="A .json or .json.gz trace, or - for standard input.")],
    expect: Annotated[
        list[str] | None,
        typer.Option("-e", "--expect", help='kernels=5, "gemm >= 3", "op:aten::addmm>=1", ... Repeatable.'),
    ] = None,
    file: Annotated[Path | None, typer.Option(help="A *.guess.toml with a table for each region.")] = None,
    region: Annotated[str | None, typer.Option(help="Judge the regions this glob matches.")] = None,
    allow_incomplete: Annotated[
        bool, typer.Option("--allow-incomplete", help="Judge a damaged or unfinished trace by what is left.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON.")] = False,
) -> None:
    """Hold a trace against a guess: exit 0 if it holds, 1 if it does not or cannot be judged."""
    from rung.cli.output import working
    from rung.trace import read

    wanted = _written(expect or [], file, region)
    if wanted is None and not _can_ask(trace, as_json):
        from rung.errors import UsageError

        raise UsageError(f"what do you expect? For example: rung guess {trace} -e kernels=5 -e gemm=3")
    with working(f"reading {trace}"):
        known = read(trace)
    if wanted is None:
        wanted = _ask(region)
    if wanted is None:
        _print_truth(known, region)
        return
    verdict = wanted.check(known, allow_incomplete=allow_incomplete)
    _print(verdict, as_json)
    if known.incomplete and not allow_incomplete:
        typer.echo("--allow-incomplete judges what is left.", err=True)
    if not verdict.held:
        raise typer.Exit(1)


def _written(expect: list[str], file: Path | None, region: str | None) -> Guess | None:
    from rung.insight import guess as guesses

    parts = [guesses.guess(*expect, region=region)] if expect else []
    if file is not None:
        parts.append(guesses.load(file, region))
    return sum(parts[1:], parts[0]) if parts else None


def _can_ask(trace: str, as_json: bool) -> bool:
    return trace != "-" and not as_json and sys.stdin.isatty() and sys.stderr.isatty()


def _ask(region: str | None) -> Guess | None:
    from rich.console import Console

    from rung.show.guess import ask

    return ask(Console(stderr=True), region=region)


def _print(verdict: Verdict, as_json: bool) -> None:
    from rung.cli.output import stdout
    from rung.show.as_json import encode
    from rung.show.guess import render

    if as_json:
        typer.echo(encode(verdict.to_dict()))
    else:
        stdout().print(render(verdict), soft_wrap=True)


def _print_truth(trace: Trace, region: str | None) -> None:
    from rung.insight.guess import regions_of
    from rung.insight.guessing.measures import census

    for instance in regions_of(trace, region):
        typer.echo(f"{instance.name}: {census(instance)}")
