"""`rung show`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rung.insight.exhibit import Exhibit


def show(
    traces: Annotated[list[str], typer.Argument(help="One trace, or several variants of one thing.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to write the page. [default: beside the trace]"),
    ] = None,
    region: Annotated[
        str | None, typer.Option(help="Look at this region instead of the outermost one.")
    ] = None,
    step: Annotated[int | None, typer.Option(help="Look at this step only.")] = None,
    between: Annotated[
        str | None, typer.Option(metavar="A..B", help="Draw this time only, such as 1ms..2.5ms.")
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(help="Draw a picture for a README or a slide; a page too where -o names it."),
    ] = None,
    png: Annotated[Path | None, typer.Option(help="The same as PNG.")] = None,
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
    from rung.cli.opening import open_page
    from rung.cli.output import print_json, stdout, write_file
    from rung.show.fitting import Unbroken

    window = stretch(between, step=step)
    if perfetto or online:
        from rung.cli.perfetto import open_perfetto

        _refuse_with_perfetto(output=output, svg=svg, png=png)
        open_perfetto(traces, region, step, window, online=online, no_open=no_open, json=json)
        return
    laid_out = _laid_out(traces, region, step, window, no_cache=no_cache)
    files = _drawn(laid_out, svg, png)
    if output or not files:
        files |= _page(laid_out, output, traces[0])
    for path, content in files.items():
        write_file(path, content)
    if json:
        print_json({"artifacts": [{"path": str(path), "bytes": path.stat().st_size} for path in files]})
    else:
        for path in files:
            stdout().print(Unbroken(str(path)), crop=False)
    if not (no_open or svg or png):
        open_page(next(iter(files)).resolve().as_uri())


def _refuse_with_perfetto(**files: Path | None) -> None:
    from rung.errors import UsageError

    for name, path in files.items():
        if path is not None:
            raise UsageError(f"--perfetto writes no file: leave --{name} out. (rung convert writes a copy.)")


def _page(laid_out: list[Exhibit], output: Path | None, first: str) -> dict[Path, str | bytes]:
    from rung.cli.output import working
    from rung.cli.parts import stem
    from rung.show.page import Scene, page
    from rung.stores import is_remote, last_name

    with working("drawing"):
        html = page([Scene("Side by side", tuple(laid_out))])
    beside = "trace" if first == "-" else last_name(first) if is_remote(first) else first
    return {output or Path(f"{stem(beside)}.html"): html}


def _drawn(laid_out: list[Exhibit], svg: Path | None, png: Path | None) -> dict[Path, str | bytes]:
    if not svg and not png:
        return {}
    from rung.show.drawing import picture

    drawn = picture.picture(laid_out)
    files: dict[Path, str | bytes] = {svg: drawn} if svg else {}
    return files | {png: picture.png(drawn)} if png else files


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
    from rung.cli.parts import check_stretch, names_of
    from rung.insight.exhibit import budget, exhibit

    found = []
    for name, label in zip(traces, names_of(traces), strict=True):
        loaded = load(name, no_cache=no_cache)
        check_stretch(loaded, between)
        with working(f"laying out {name}"):
            found.append(exhibit(loaded, label, region, step, between, budget(len(traces))))
    return found
