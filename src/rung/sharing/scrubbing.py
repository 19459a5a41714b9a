"""`scrub`: a copy of a trace without what it tells of people and machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw

from rung.sharing.keeping import ARGUMENTS, HEADER, MEMBERS, RUNG
from rung.sharing.sensitive import Sensitive, sensitive
from rung.trace.export.exporting import write
from rung.trace.export.raw import RawTrace, open_raw
from rung.trace.export.rewriting import Members, rewritten


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A clean copy under a clean name, and how often what was taken out: Python frames, arguments and header
    members by their names, paths, hosts and users in what stayed."""

    path: Path
    name: str
    removed: dict[str, int]


def scrub(source: Path, name: str, target: Path, hide: Iterable[str] = ()) -> Scrubbed:
    """Write `source` to `target` without paths, host and user names, stacks and arguments.

    Kernels, launches, ops, regions, shapes, dtypes and times stay, and so `read` finds the same. Annotations
    keep their words, but for paths and names in them; `hide` are more words to take out. `name` is what the
    file will be called; host and user names go from it too.

    Raises:
        UnreadableTraceError: it is no trace.
        OSError: the copy cannot be written; then none is left.
    """
    raw = open_raw(source)
    names = sensitive(_values(raw), name, hide)
    cleaner = _Cleaner(names, Counter())
    write(target, cleaner.header(raw.header), cleaner.texts(raw))
    return Scrubbed(target, names.file_name(name), cleaner.told())


def _values(raw: RawTrace) -> Iterator[Any]:
    for _, text in raw.events():
        yield msgspec.json.decode(text)
    yield {key: msgspec.json.decode(value) for key, value in raw.header.items()}


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
