"""`rung read`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rung.trace import Trace


def read(
    trace: Annotated[str, typer.Argument(help="A trace, .json or .json.gz; - reads standard input.")],
    region: Annotated[
        str | None, typer.Option(help="Look at this region instead of the outermost one.")
    ] = None,
    step: Annotated[int | None, typer.Option(help="Look at this step only.")] = None,
    device: Annotated[str | None, typer.Option(help="Look at the work of this device only.")] = None,
    stream: Annotated[str | None, typer.Option(help="Look at the work on this stream only.")] = None,
    between: Annotated[
        str | None, typer.Option(metavar="A..B", help="Look at this time only, such as 1ms..2.5ms.")
    ] = None,
    sql: Annotated[
        str | None, typer.Option(help="Ask DuckDB about the tables ops, launches, kernels, regions.")
    ] = None,
    header: Annotated[
        bool, typer.Option("--header", help="Show what the file says of itself; decode no event.")
    ] = False,
    no_stacks: Annotated[bool, typer.Option("--no-stacks", help="Leave Python frames out early.")] = False,
    salvage: Annotated[
        bool, typer.Option("--salvage", help="Read a file that two processes wrote at once.")
    ] = False,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Neither use nor fill the cache.")] = False,
    all_: Annotated[bool, typer.Option("--all", help="List every kernel, however many.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Read a trace: op -> launch -> kernel, each kernel in plain words."""
    from rung import trace as traces
    from rung.cli.loading import load, stretch
    from rung.errors import UsageError

    if sql is not None and (region is not None or step is not None):
        raise UsageError("--sql sees all regions and steps: choose in the query (where region_name = ...).")
    if header:
        _header(trace, json)
        return
    window = stretch(between)
    loaded = load(trace, no_cache=no_cache, salvage=salvage, no_stacks=no_stacks)
    if device is not None or stream is not None or window is not None:
        loaded = traces.narrow(loaded, device=device, stream=stream, between=window)
    if sql is not None:
        _sql(loaded, sql, json)
    elif json:
        _json(loaded, region, step)
    else:
        _page(loaded, region, step, all_)


def _header(path: str, json: bool) -> None:
    from rung.cli.loading import telling
    from rung.cli.output import print_json, stdout
    from rung.show import header as shown
    from rung.trace import read_header

    with telling(path) as progress:
        found, whole = read_header(path, progress)
    if json:
        print_json(shown.as_json(path, found, whole))
    else:
        stdout().print(shown.page(path, found, whole))


def _sql(loaded: Trace, text: str, json: bool) -> None:
    from rung.cli.output import print_json, stdout
    from rung.insight.sql import query
    from rung.show import answer as shown

    found = query(loaded, text)
    if json:
        print_json(shown.as_json(found))
    else:
        stdout().print(shown.page(found))


def _json(loaded: Trace, region: str | None, step: int | None) -> None:
    from rung.cli.output import print_json
    from rung.insight.forward import chosen
    from rung.show.as_json import trace_json

    print_json(trace_json(loaded, *chosen(loaded, region, step)))


def _page(loaded: Trace, region: str | None, step: int | None, everything: bool) -> None:
    from rung.cli.output import stdout, working
    from rung.errors import UsageError
    from rung.insight.findings import Case, explanations
    from rung.insight.forward import forward, region_names
    from rung.insight.tree import tree
    from rung.show.read import report

    with working(f"laying out {loaded.path}"):
        names = region_names(loaded, step) if region is None else [region]
        forwards = [forward(loaded, name, step) for name in names]
        if not forwards:
            of = f" of step {step}" if step is not None else ""
            raise UsageError(f"{loaded.path} has no region{of} in that time.")
        main = Case(loaded, tuple(forwards[:1]), step)
        said = [one.title for one in explanations(main)]
        points = main.rooflines[0].points
        page = report(loaded, forwards, tree(forwards[0].example), points, said, everything=everything)
    stdout().print(page)
