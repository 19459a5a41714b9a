"""`rung read`"""

from __future__ import annotations

from typing import Annotated

import typer


def read(
    trace: Annotated[str, typer.Argument(help="A trace, .json or .json.gz; - reads standard input.")],
    region: Annotated[
        str | None, typer.Option(help="Look at this region instead of the outermost one.")
    ] = None,
    step: Annotated[int | None, typer.Option(help="With --json: this step only.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="List every kernel, however many.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Read a trace: op -> launch -> kernel, every kernel in plain words."""
    from rung import trace as traces
    from rung.cli.output import stdout, working
    from rung.insight.forward import forward, instances, region_names
    from rung.insight.tree import tree
    from rung.show import as_json
    from rung.show.read import report

    with working(f"reading {trace}"):
        loaded = traces.read(trace)
        if json:
            regions = instances(loaded, region) if region else list(loaded.regions)
            kernels = [k for r in regions for k in r.work] if region else list(loaded.kernels)
            if step is not None:
                regions = [r for r in regions if r.step == step]
                kernels = [k for k in kernels if k.step == step]
            typer.echo(as_json.encode(as_json.trace_json(loaded, regions, kernels)))
            return
        forwards = [forward(loaded, name) for name in ([region] if region else region_names(loaded))]
        page = report(loaded, forwards, tree(forwards[0].example), everything=all_)
    stdout().print(page)
