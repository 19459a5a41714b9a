"""`rung guess TRACE`: hold a trace against a written guess; draft one, explain one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rung.insight.guess import Guess, Verdict
    from rung.trace import Trace


def guess(
    trace: Annotated[
        str | None, typer.Argument(help="A .json or .json.gz trace, or - for standard input.")
    ] = None,
    expect: Annotated[
        list[str] | None,
        typer.Option(
            "-e",
            "--expect",
            metavar="<str>",
            help='kernels=5, "gemm >= 3", "op:aten::addmm>=1", ... Repeatable.',
        ),
    ] = None,
    file: Annotated[Path | None, typer.Option(help="A *.guess.toml with a table for each region.")] = None,
    region: Annotated[str | None, typer.Option(help="Judge the regions this glob matches.")] = None,
    baseline: Annotated[
        str | None, typer.Option(help="The trace that tolerances of times are about.")
    ] = None,
    allow_incomplete: Annotated[
        bool, typer.Option("--allow-incomplete", help="Judge a damaged or unfinished trace by what is left.")
    ] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Say the guess in plain words; with a trace, show what broke it."),
    ] = False,
    write: Annotated[
        bool, typer.Option("--write", help="Draft a guess file from the trace instead of judging it.")
    ] = False,
    level: Annotated[str, typer.Option(help="How strict a draft is: loose, normal or strict.")] = "normal",
    out: Annotated[
        Path | None, typer.Option(help="With --write: the file to write, or to bring up to date.")
    ] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of guess files, for editors.")
    ] = False,
    github: Annotated[
        bool | None,
        typer.Option("--github/--no-github", help="Annotate for GitHub. [default: under GITHUB_ACTIONS]"),
    ] = None,
    summary: Annotated[Path | None, typer.Option(help="Append the verdict in Markdown to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON.")] = False,
) -> None:
    """Hold a trace against a guess.

    Exit 0 if it holds, 1 if it does not or cannot be judged.
    """
    from rung.cli.loading import load
    from rung.errors import UsageError

    if schema:
        _print_schema()
        return
    if explain and trace is not None and trace.endswith(".toml"):
        file, trace = Path(trace), None
    wanted = _written(expect or [], file, region)
    if explain and trace is None and wanted is not None:
        _print_words(wanted)
        return
    if trace is None and explain:
        raise UsageError("explain what? For example: rung guess --explain mlp.guess.toml")
    if trace is None:
        raise UsageError("which trace? For example: rung guess trace.json.gz -e kernels=5 -e gemm=3")
    if write:
        _draft(trace, level, region, out)
        return
    if wanted is None and not _can_ask(trace, as_json):
        raise UsageError(f"what do you expect? For example: rung guess {trace} -e kernels=5 -e gemm=3")
    known = load(trace)
    base = load(baseline) if baseline is not None else None
    if wanted is None:
        wanted = _ask(region)
    if wanted is None:
        _print_truth(known, region)
        return
    verdict = wanted.check(known, allow_incomplete=allow_incomplete, baseline=base)
    _print(verdict, as_json)
    if explain:
        _print_blame(wanted, known, allow_incomplete, base, as_json)
    if known.incomplete and not allow_incomplete:
        typer.echo("--allow-incomplete judges what is left.", err=True)
    _announce(verdict, f"rung guess {trace}", github, summary)
    if not verdict.held:
        raise typer.Exit(1)


def _written(expect: list[str], file: Path | None, region: str | None) -> Guess | None:
    from rung.insight import guess as guesses

    parts = [guesses.guess(*expect, region=region)] if expect else []
    if file is not None:
        parts.append(guesses.load(file, region))
    return sum(parts[1:], parts[0]) if parts else None


def _can_ask(trace: str, as_json: bool) -> bool:
    from rung.cli.streams import is_asked

    return trace != "-" and not as_json and is_asked()


def _ask(region: str | None) -> Guess | None:
    from rich.console import Console

    from rung.show.guess import ask

    return ask(Console(stderr=True), region=region)


def _draft(trace: str, level: str, region: str | None, out: Path | None) -> None:
    """The draft goes to stdout; what became of a file, to stderr."""
    from rung.cli.loading import load
    from rung.errors import UsageError
    from rung.insight.guessing.draft import draft
    from rung.insight.guessing.update import update
    from rung.show.plain import printable

    known = load(trace)
    if out is None:
        typer.echo(draft(known, level, region), nl=False)
        return
    try:
        said = update(out, known, level=level, region=region)
    except OSError as error:
        raise UsageError(f"the draft cannot be written to {out}: {error.strerror or error}.") from error
    except UnicodeDecodeError:
        raise UsageError(f"{out} is no guess file: it is not UTF-8 text.") from None
    for sentence in said or [f"{out}: holds as it is"]:
        typer.echo(printable(sentence), err=True)


def _print(verdict: Verdict, as_json: bool) -> None:
    from rung.cli.output import print_json, stdout
    from rung.show.guess import render

    if as_json:
        print_json(verdict.to_dict())
    else:
        stdout().print(render(verdict), soft_wrap=True)


def _print_truth(trace: Trace, region: str | None) -> None:
    from rung.insight.guess import regions_of
    from rung.insight.guessing.measures import census
    from rung.show.plain import printable

    for instance in regions_of(trace, region):
        typer.echo(printable(f"{instance.name}: {census(instance)}"))


def _print_words(wanted: Guess) -> None:
    from rung.show.guess import in_words

    typer.echo("\n".join(in_words(wanted)))


def _print_blame(
    wanted: Guess, trace: Trace, allow_incomplete: bool, baseline: Trace | None, as_json: bool
) -> None:
    """Under `--json` the tree is commentary, so that stdout stays JSON."""
    from rung.insight.guessing.blame import explain
    from rung.show.plain import printable

    if not trace.incomplete or allow_incomplete:
        judged = wanted.judge(trace, allow_incomplete=allow_incomplete, baseline=baseline)
        for line in explain(judged):
            typer.echo(printable(line), err=as_json)


def _print_schema() -> None:
    import json

    from rung.insight.guessing.schema import schema

    typer.echo(json.dumps(schema(), indent=2))


def _announce(verdict: Verdict, title: str, github: bool | None, summary: Path | None) -> None:
    """Annotations on stderr and the step summary, where CI wants them."""
    from rung.show import ci
    from rung.show.plain import printable

    github = ci.on_github(github)
    if github:
        for annotation in ci.of_verdict(verdict, "rung guess"):
            typer.echo(printable(annotation.command()), err=True)
    if path := ci.summary_path(summary, github):
        ci.add_summary(path, ci.verdict_markdown(verdict, title))
