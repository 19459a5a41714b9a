"""`rung why`"""

from __future__ import annotations

from typing import Annotated

import typer


def why(
    trace: Annotated[str, typer.Argument(help="A trace, .json or .json.gz; - reads standard input.")],
    other: Annotated[
        str | None, typer.Argument(help="Explain what makes this one slower; or another rank of the job.")
    ] = None,
    region: Annotated[
        str | None, typer.Option(help="Look at this region instead of the outermost ones.")
    ] = None,
    step: Annotated[int | None, typer.Option(help="Look at this step only.")] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="<str>", help="Look for this finding only. Repeatable.")
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="<str>", help="Leave this finding out. Repeatable.")
    ] = None,
    min_share: Annotated[
        str, typer.Option(help="Leave out what costs a smaller share of the time, such as 5%.")
    ] = "0%",
    salvage: Annotated[
        bool, typer.Option("--salvage", help="Read a file that two processes wrote at once.")
    ] = False,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Neither use nor fill the cache.")] = False,
    all_: Annotated[bool, typer.Option("--all", help="List every finding, however many.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say why a trace takes so long, or what makes another slower.

    Findings come by price; each has its evidence and advice.
    """
    from rung.cli.loading import load
    from rung.cli.output import print_json, stdout, working
    from rung.errors import UsageError
    from rung.insight.why import Why
    from rung.insight.why import why as explain
    from rung.show import regression
    from rung.show import why as shown

    least = _share(min_share)
    if trace == other == "-":
        raise UsageError("standard input holds one trace: give the other as a file.")
    first = load(trace, no_cache=no_cache, salvage=salvage)
    second = load(other, no_cache=no_cache, salvage=salvage) if other is not None else None
    with working(f"explaining {trace}"):
        found = explain(
            first, second, region=region, step=step, only=only or (), ignore=ignore or (), min_share=least
        )
    if isinstance(found, Why):
        value, page = shown.as_json(found), shown.page(found, everything=all_)
    else:
        value, page = regression.as_json(found), regression.page(found, everything=all_)
    if json:
        print_json(value)
    else:
        stdout().print(page)


def _share(text: str) -> float:
    """`5%` as 0.05."""
    from rung.insight.guessing.wants import amount

    return float(amount("--min-share", "==", text.strip(), "share").bounds[0])
