"""`rung diff`"""

from __future__ import annotations

from typing import Annotated

import typer


def diff(
    a: Annotated[str, typer.Argument(help="The trace to compare with.")],
    b: Annotated[str, typer.Argument(help="The trace that is compared.")],
    region: Annotated[
        str | None, typer.Option(help="Compare this region instead of the outermost one.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare two traces: what changed, what stayed the same."""
    from rung import trace as traces
    from rung.cli.output import stdout, working
    from rung.insight.compare import diff as compare
    from rung.insight.narrate import changed, unchanged
    from rung.show import as_json
    from rung.show.diff import headings, side_by_side, verdict
    from rung.show.read import is_drawn

    with working(f"comparing {a} and {b}"):
        found = compare(traces.read(a), traces.read(b), region)
    if json:
        typer.echo(as_json.encode(as_json.diff_json(found, a, b)))
        return
    console = stdout()
    console.print(*headings(found), sep="\n")
    console.print()
    console.print(side_by_side(("A", "B"), (found.a, found.b)))
    console.print()
    measured = not any(is_drawn(f.example.trace) for f in (found.a, found.b))
    console.print(verdict(changed(found, times=measured), unchanged(found, times=measured)))
