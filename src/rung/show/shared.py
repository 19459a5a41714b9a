"""What `rung share` says: links, what stands in the way of them, what was taken out before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.text import Text

from rung import units
from rung.sharing import Plan, Shared
from rung.show.fitting import Unbroken
from rung.show.markdown import escaped, table_row
from rung.show.plain import plain, printable


def table(found: Sequence[Shared]) -> Iterator[Unbroken]:
    """A line a trace: name, size, the link that opens it, never broken; below it those of pages."""
    names, sizes = [printable(one.name) for one in found], [units.size(one.nbytes) for one in found]
    wide, broad = max(map(len, names)), max(map(len, sizes))
    for name, nbytes, one in zip(names, sizes, found, strict=True):
        link = one.perfetto or one.url or "no link"
        yield Unbroken(f"{name:{wide}}  {nbytes:>{broad}}  {link}")
        if one.page:
            yield Unbroken(f"{'':{wide}}  {'page':>{broad}}  {one.page}")


def markdown(found: Sequence[Shared]) -> str:
    """The same for a pull request."""
    rows = [
        (escaped(one.name), units.size(one.nbytes), " · ".join(_links(one)) or escaped(one.note or "no link"))
        for one in found
    ]
    return "".join(map(table_row, [("trace", "size", "open"), ("---", "---:", "---"), *rows]))


def _links(one: Shared) -> Iterator[str]:
    for word, link in (("Perfetto", one.perfetto), ("page", one.page), ("file", one.url)):
        if link:
            yield f"[{word}](<{link}>)"


def as_json(found: Sequence[Shared], deleted: Sequence[str], removed: Mapping[str, int]) -> dict[str, Any]:
    return {
        "artifacts": [asdict(one) for one in found],
        "deleted": list(deleted),
        "scrubbed": dict(removed),
    }


def notes(found: Sequence[Shared]) -> Iterator[Text]:
    """What stands in the way of the links, each said once."""
    for note in dict.fromkeys(one.note for one in found if one.note):
        yield plain(f"  {note}")


def intent(plan: Plan, url: str) -> Text:
    """What is going to happen."""
    going = f"{units.count(len(plan.send), 'file')}, {units.size(plan.nbytes)}, to {url}"
    there = f"; {len(plan.keep)} there already" if plan.keep else ""
    return plain((going if plan.send else f"nothing new for {url}") + there)


def removed(counts: Mapping[str, int]) -> Iterator[Text]:
    """What was taken out, the most frequent first."""
    yield plain("taken out:" if counts else "nothing to take out was found")
    wide = max((len(f"{n:,}") for n in counts.values()), default=0)
    for what, n in counts.items():
        yield plain(f"  {n:>{wide},}  {what}")
