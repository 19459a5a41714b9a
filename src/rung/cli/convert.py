"""`rung convert`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def convert(
    traces: Annotated[list[str], typer.Argument(help="One trace, or several to go into one file.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file to write; .gz compresses it.", show_default=False)
    ],
    region: Annotated[
        str | None, typer.Option(help="Keep the time of this region alone: its typical instance.")
    ] = None,
    step: Annotated[int | None, typer.Option(help="Keep the time of this step alone.")] = None,
    between: Annotated[
        str | None, typer.Option(metavar="A..B", help="Keep this time alone, such as 1ms..2.5ms.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a clean copy of a trace, whole or a part of it, or of several in one file.

    What viewers refuse or drop is mended and counted: damaged text, slices that overlap on one track. Several
    traces keep apart what would collide; ranks of one job keep their clocks, variants begin together.
    """
    from dataclasses import asdict

    from rung.cli.loading import load, stretch
    from rung.cli.output import print_json, stdout, working, writing
    from rung.cli.parts import parts_of
    from rung.errors import UsageError
    from rung.show.exported import lines
    from rung.trace.export import export

    window = stretch(between, step=step, region=region)
    if any(output.resolve() == Path(name).resolve() for name in traces):
        raise UsageError(f"{output} is one of the traces: a copy must not take its place.")
    if "-" in traces:
        raise UsageError("rung convert goes through a file twice: save standard input to one first.")
    loaded = [load(name, salvage=True) for name in traces]
    parts = parts_of(loaded, region, step, window)
    with working(f"writing {output}"), writing(output):
        made = export(parts, output)
    if json:
        print_json({"artifacts": [{**asdict(made), "path": str(made.path)}]})
    else:
        for line in lines(made):
            stdout().print(line)
