"""`rung share`"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rung.sharing import Plan, Scrubbed, Shared
    from rung.stores.place import Item, Store


def share(
    path: Annotated[Path, typer.Argument(help="A trace, or a folder of traces.")],
    bucket: Annotated[
        str | None, typer.Option("--bucket", "-b", help="Send them to this Hugging Face bucket.")
    ] = None,
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="The bucket's owner. [default: you]")
    ] = None,
    to: Annotated[
        str | None, typer.Option(help="Send them to this address: s3://, gs://, az://, file:// or hf://.")
    ] = None,
    html: Annotated[bool, typer.Option("--html", help="Send each trace's page too (see rung show).")] = False,
    scrub: Annotated[
        bool, typer.Option("--scrub", help="Take out paths, host and user names, stacks and arguments first.")
    ] = False,
    hide: Annotated[
        list[str] | None,
        typer.Option(metavar="<str>", help="With --scrub: take out this word too. Repeatable."),
    ] = None,
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete traces and pages there that are not here.")
    ] = False,
    private: Annotated[
        bool, typer.Option("--private", help="If the bucket is new: not for everyone.")
    ] = False,
    days: Annotated[int, typer.Option(help="How long signed links work.")] = 7,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, create the bucket.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown for a pull request.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Share traces: a link for each that opens it in Perfetto.

    They go into a bucket or a folder that others can fetch from. What is there already is not sent again.
    """
    from rung.cli.output import stderr
    from rung.errors import UsageError
    from rung.sharing import planned, shared, traces_in
    from rung.show import shared as shown
    from rung.show.plain import plain
    from rung.stores.places import store

    if json and markdown:
        raise UsageError("--json and --markdown are two ways to print: give one of them.")
    if hide and not scrub:
        raise UsageError("--hide goes with --scrub.")
    if delete and not path.is_dir():
        raise UsageError("--delete takes away what is not in the folder: share a folder.")
    traces, others = traces_in(path)
    if others:
        stderr().print(plain(f"left out, for they are no traces: {_some(others)}"))
    where = store(bucket, namespace, to, private=private, days=days)
    with TemporaryDirectory(prefix="rung-") as folder:
        removed: dict[str, int] = {}
        if scrub:
            made = _scrubbed(traces, Path(folder), hide or [])
            traces, removed = made.items, made.removed
        pages = _pages(traces, Path(folder)) if html else {}
        _ready(where, yes)
        plan = planned([*traces, *pages.values()], where.there(), anew=scrub)
        stderr().print(shown.intent(plan, where.url))
        _send(where, plan)
    gone = _deleted(where, plan, yes) if delete else []
    found = [
        shared(where, one, pages[one.name].name if one.name in pages else None, sent=one in plan.send)
        for one in traces
    ]
    for note in shown.notes(found):
        stderr().print(note)
    _print(found, gone, removed, json, markdown)


def _print(
    found: Sequence[Shared], gone: Sequence[str], removed: dict[str, int], json: bool, markdown: bool
) -> None:
    from rung.cli.output import print_json, stdout
    from rung.show import shared as shown

    if json:
        print_json(shown.as_json(found, gone, removed))
    elif markdown:
        typer.echo(shown.markdown(found), nl=False)
    else:
        for line in shown.table(found):
            stdout().print(line, crop=False)


def _scrubbed(traces: Sequence[Item], folder: Path, hide: list[str]) -> Scrubbed:
    """Clean copies; says what was taken out of all of them."""
    from rung.cli.output import stderr, working
    from rung.sharing import scrub
    from rung.show.shared import removed

    with working("scrubbing"):
        made = scrub(traces, folder, hide)
    for line in removed(made.removed):
        stderr().print(line)
    return made


def _pages(traces: Sequence[Item], folder: Path) -> dict[str, Item]:
    """By a trace's name: its page."""
    from rung.cli.loading import load
    from rung.cli.output import working
    from rung.cli.parts import stem
    from rung.insight.exhibit import exhibit
    from rung.sharing.finding import item
    from rung.show.page import Scene, page

    made: dict[str, Item] = {}
    for number, trace in enumerate(traces):
        loaded = load(str(trace.local))
        loaded.path = trace.name  # the page is for others: they know it by that name
        with working(f"drawing {trace.name}"):
            html = page([Scene("", (exhibit(loaded, stem(trace.name)),))])
        file = folder / f"{number}-{stem(Path(trace.name).name)}.html"
        file.write_text(html, encoding="utf-8")
        name = f"{stem(trace.name)}.html"
        taken = any(one.name == name for one in made.values())  # by a.json, if this is a.json.gz
        made[trace.name] = item(file, f"{trace.name}.html" if taken else name)
    return made


def _ready(where: Store, yes: bool) -> None:
    """Create the store, if it is not there and that is wanted."""
    from rung.cli.streams import agreed

    if not where.exists():
        agreed(f"create {where.url}? Its files are for {where.visible}", yes)
        where.create()


def _send(where: Store, plan: Plan) -> None:
    from rung.cli.progress import bar

    if not plan.send:
        return
    if where.draws:
        where.put(plan.send)
        return
    with bar(f"to {where.url}") as progress:
        where.put(plan.send, progress)


def _deleted(where: Store, plan: Plan, yes: bool) -> list[str]:
    from rung import units
    from rung.cli.streams import agreed

    if plan.gone:
        agreed(f"delete {units.count(len(plan.gone), 'file')} at {where.url}: {_some(plan.gone)}", yes)
        where.delete(plan.gone)
    return list(plan.gone)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
