"""`rung show`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rung.insight.diff import Diff
    from rung.insight.exhibit import Exhibit


def show(
    traces: Annotated[list[str], typer.Argument(help="One trace, or several variants of one thing.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to write the page. (default: beside the trace)"),
    ] = None,
    region: Annotated[
        str | None, typer.Option(help="Look at this region instead of the outermost one.")
    ] = None,
    step: Annotated[int | None, typer.Option(help="Look at this step only.")] = None,
    between: Annotated[
        str | None, typer.Option(metavar="A..B", help="Draw this time only, such as 1ms..2.5ms.")
    ] = None,
    perfetto: Annotated[
        bool,
        typer.Option("--perfetto", help="Open Perfetto instead, offline, with a clean copy of the trace."),
    ] = False,
    online: Annotated[
        bool, typer.Option("--online", help="With --perfetto: take its UI from ui.perfetto.dev.")
    ] = False,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open it.")] = False,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Neither use nor fill the cache.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show traces as a page: findings, a timeline, kernels, a roofline; several side by side.

    The page is one file that works from disk and asks the network for nothing.
    """
    from rung.cli.loading import stretch
    from rung.cli.output import print_json, stdout, working, write_file
    from rung.cli.parts import stem
    from rung.show.page import page

    if perfetto or online:
        from rung.cli.perfetto import open_perfetto

        open_perfetto(traces, region, step, stretch(between), online=online, no_open=no_open)
        return
    laid_out = _laid_out(traces, region, step, stretch(between), no_cache=no_cache)
    with working("drawing"):
        html = page(laid_out, _diffs(laid_out))
    path = output or Path(f"{stem(traces[0])}.html")
    write_file(path, html)
    if json:
        print_json({"artifacts": [{"path": str(path), "bytes": path.stat().st_size}]})
    else:
        stdout().print(str(path))
    if not no_open:
        typer.launch(path.resolve().as_uri())


def _laid_out(
    traces: list[str],
    region: str | None,
    step: int | None,
    between: tuple[int, int] | None,
    *,
    no_cache: bool,
) -> list[Exhibit]:
    from rung.cli.loading import load
    from rung.cli.output import working
    from rung.cli.parts import names_of
    from rung.insight.exhibit import exhibit

    found = []
    for name, label in zip(traces, names_of(traces), strict=True):
        loaded = load(name, no_cache=no_cache)
        with working(f"laying out {name}"):
            found.append(exhibit(loaded, label, region, step, between))
    return found


def _diffs(laid_out: list[Exhibit]) -> list[Diff]:
    from rung.insight.diff import describe

    return [describe(laid_out[0].forward, one.forward) for one in laid_out[1:]]
