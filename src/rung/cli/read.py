"""`rung read`"""

from __future__ import annotations

from typing import Annotated

import typer


def read(
    trace: Annotated[str, typer.Argument(help="A trace, .json or .json.gz; - reads standard input.")],
    region: Annotated[
        str | None, typer.Option(help="Look at this region instead of the outermost one.")
    ] = None,
    step: Annotated[int | None, typer.Option(help="Look at this step only.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="List every kernel, however many.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Read a trace: op -> launch -> kernel, every kernel in plain words."""
    from rung import trace as traces
    from rung.cli.output import stdout, working
    from rung.errors import UsageError
    from rung.insight.forward import chosen, forward, region_names
    from rung.insight.tree import tree
    from rung.show import as_json
    from rung.show.read import report

    with working(f"reading {trace}"):
        loaded = traces.read(trace)
        if json:
            typer.echo(as_json.encode(as_json.trace_json(loaded, *chosen(loaded, region, step))))
            return
        names = region_names(loaded, step) if region is None else [region]
        forwards = [forward(loaded, name, step) for name in names]
        if not forwards:
            raise UsageError(f"{loaded.path} has no region in step {step}.")
        page = report(loaded, forwards, tree(forwards[0].example), everything=all_)
    stdout().print(page)
