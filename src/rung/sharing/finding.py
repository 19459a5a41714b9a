"""The traces in a folder."""

from __future__ import annotations

from pathlib import Path

from rung.errors import UnreadableTraceError, UsageError
from rung.stores.place import Item
from rung.trace import read_header

SUFFIXES = (".json", ".json.gz")


def traces_in(path: Path) -> tuple[list[Item], list[str]]:
    """A trace, or all below a folder by their names there; and the names of JSON files that are none.

    Hidden files and folders are left out. A file is looked at, not read.

    Raises:
        UnreadableTraceError: the one file is no trace.
        UsageError: the folder has none in it, or a name that no address can carry.
    """
    if not path.is_dir():
        read_header(path)
        return [item(path, path.name)], []
    found, others = [], []
    for file in sorted(path.rglob("*")):
        name = file.relative_to(path).as_posix()
        if not name.endswith(SUFFIXES) or f"/{name}".find("/.") >= 0 or not file.is_file():
            continue
        try:
            read_header(file)
        except UnreadableTraceError:
            others.append(name)
        else:
            found.append(item(file, name))
    if not found:
        raise UsageError(f"{path} has no traces in it: no .json or .json.gz that torch.profiler wrote.")
    return found, others


def item(file: Path, name: str) -> Item:
    """A file as it is now, under that name.

    Raises:
        UsageError: the name is not UTF-8.
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{name!r} is not UTF-8, which addresses are written in: rename it.") from None
    stat = file.stat()
    return Item(file, name, stat.st_size, stat.st_mtime)
