"""`scrub`: copies of traces without what they tell of people and machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw

from rung.sharing.finding import item
from rung.sharing.keeping import ARGUMENTS, HEADER, MEMBERS, RUNG
from rung.sharing.sensitive import Sensitive, Word, may_name, names_here, names_in, names_of_file, sensitive
from rung.stores.place import Item
from rung.trace.export.exporting import write
from rung.trace.export.raw import RawTrace, open_raw
from rung.trace.export.rewriting import Members, rewritten


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """Clean copies under clean names, and how often what was taken out of them: Python frames, arguments and
    members of the file by their names, paths, hosts and users in what stayed."""

    items: list[Item]
    removed: dict[str, int]


def scrub(traces: Sequence[Item], folder: Path, hide: Iterable[str] = ()) -> Scrubbed:
    """Copy traces into `folder` without paths, host and user names, stacks and arguments.

    Kernels, launches, ops, regions, shapes, dtypes and times stay, and so `read` finds the same. Annotations
    keep their words, but for paths and names in them; whoever is named in one trace is hidden in all, and in
    the files' names. `hide` are more words to take out.

    Raises:
        UnreadableTraceError: one is no trace.
        OSError: a copy cannot be written.
    """
    raws = [open_raw(one.local) for one in traces]
    words = names_here().union(*map(_names, raws), *(names_of_file(one.name) for one in traces))
    cleaner = _Cleaner(sensitive(words, hide), Counter())
    clean: dict[str, Item] = {}
    for number, (one, raw) in enumerate(zip(traces, raws, strict=True)):
        name = cleaner.names.file_name(one.name)
        name = f"{number}-{name}" if name in clean else name
        (folder / str(number)).mkdir()
        copy = folder / str(number) / Path(name).name
        write(copy, cleaner.header(raw.header), cleaner.texts(raw))
        clean[name] = item(copy, name)
    return Scrubbed(list(clean.values()), cleaner.told())


def _names(raw: RawTrace) -> set[Word]:
    found: set[Word] = set()
    for _, text in raw.events():
        if may_name(text):
            found.update(names_in(msgspec.json.decode(text)))
    for key, value in raw.header.items():
        found.update(names_in({key: msgspec.json.decode(value)}))
    return found


@dataclass(frozen=True, slots=True)
class _Cleaner:
    names: Sensitive
    removed: Counter[str]

    def told(self) -> dict[str, int]:
        """The most frequent first."""
        told = Counter({f"{kind} in a name": n for kind, n in self.names.found.items()})
        for what, n in self.removed.items():
            told[self.names.masked(what)[0]] += n  # a key can be a path
        return dict(told.most_common())

    def header(self, members: dict[str, Raw]) -> dict[str, Any]:
        kept = {key: msgspec.json.decode(value) for key, value in members.items() if key in HEADER}
        self.removed.update(f"member {key}" for key in members if key not in HEADER and key != "traceEvents")
        if isinstance(own := kept.get("rung"), dict):
            self.removed.update(f"member rung.{key}" for key in own if key not in RUNG)
            kept["rung"] = {key: value for key, value in own.items() if key in RUNG}
        return {key: self.names.cleaned(value) for key, value in kept.items()}

    def texts(self, raw: RawTrace) -> Iterator[bytes]:
        for line, text in raw.events():
            if line.is_frame:
                self.removed["Python frame"] += 1
            else:
                yield rewritten(text, self._clean)

    def _clean(self, members: Members) -> None:
        for key in [key for key in members if key not in MEMBERS]:
            self._drop(members, key)
        for key, value in members.items():
            if key == "args":
                members[key] = self._arguments(value)
            elif b'"' in bytes(value):
                members[key] = self.names.cleaned(msgspec.json.decode(value))

    def _arguments(self, raw: Raw) -> Members:
        try:
            args: Members = dict(_ARGUMENTS.decode(raw))
        except msgspec.DecodeError:  # no object: nothing that is known
            self.removed["argument"] += 1
            return {}
        for key in [key for key in args if key not in ARGUMENTS]:
            self._drop(args, key)
        for key, value in args.items():
            if b'"' in bytes(value):
                args[key] = self.names.cleaned(msgspec.json.decode(value))
        return args

    def _drop(self, members: Members, key: str) -> None:
        del members[key]
        self.removed[f"argument {key}"] += 1


_ARGUMENTS = msgspec.json.Decoder(dict[str, Raw])
