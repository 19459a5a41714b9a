"""`rung diff`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def diff(
    a: Annotated[str, typer.Argument(help="The trace to compare with.")],
    b: Annotated[str, typer.Argument(help="The trace that is compared.")],
    region: Annotated[
        str | None, typer.Option(help="Compare this region instead of the outermost one.")
    ] = None,
    expect: Annotated[
        list[str] | None,
        typer.Option(
            "-e",
            "--expect",
            metavar="<str>",
            help='Gate: "kernels <= +0", "gpu_busy <= +5%", same:gemm. Repeatable.',
        ),
    ] = None,
    gate: Annotated[Path | None, typer.Option(help="A TOML file with such lines, by region.")] = None,
    github: Annotated[
        bool | None,
        typer.Option("--github/--no-github", help="Annotate for GitHub. [default: under GITHUB_ACTIONS]"),
    ] = None,
    summary: Annotated[Path | None, typer.Option(help="Append the gate in Markdown to this file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare two traces: what changed, what stayed the same. With a gate, exit 1 if it does not hold."""
    from rung.cli import gating
    from rung.cli.loading import load
    from rung.cli.output import print_json, stdout, working
    from rung.insight.diff import diff as compare
    from rung.show.as_json import diff_json
    from rung.show.diff import SideBySide, headings, verdict
    from rung.show.gate import render
    from rung.stores import shown

    loaded = load(a), load(b)
    with working(f"comparing {a} and {b}"):
        found = compare(*loaded, region)
        gated = gating.held(found.a.example.trace, found.b.example.trace, expect or [], gate, region)
    if json:
        more = {"gate": gated.to_dict()} if gated is not None else {}
        print_json(diff_json(found, shown(a), shown(b)) | more)
        gating.announce(gated, f"rung diff {a} {b}", found.changed, github, summary)
        return
    console = stdout()
    console.print(*headings(found), sep="\n")
    console.print()
    console.print(SideBySide(("A", "B"), (found.a, found.b)))
    console.print()
    console.print(verdict(found.changed, found.unchanged))
    if gated is not None:
        console.print()
        console.print(render(gated), soft_wrap=True)
    gating.announce(gated, f"rung diff {a} {b}", found.changed, github, summary)
