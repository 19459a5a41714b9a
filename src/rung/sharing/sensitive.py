"""Paths, addresses, host and user names in a text, and what stands in their place."""

from __future__ import annotations

import getpass
import re
import socket
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

_PART = r"[^/\\\s\"'<>|,;:()\[\]{}*?]+"
_PARTS = rf"{_PART}(?: {_PART})*"
"""A folder's name may have blanks in it; the last name of a path ends at one."""

_ESCAPED = r"(?<=\\[nrt])"
"""Behind a line break as JSON writes it: what stands there begins anew."""

_APART = rf"(?:(?<![\w)\]}}>*/])|{_ESCAPED})"
"""Where a path can begin: not in a word or an expression."""

_ENDING = (
    r"(?:py|pyc|pyx|ipynb|so|cu|cuh|cpp|cc|hpp|json|gz|pt|pth|safetensors|txt|log|csv|parquet|ya?ml|toml|sh)"
)

PATTERNS = (
    ("address", re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>]+")),
    ("user", re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)*")),
    ("path", re.compile(rf"(?:\b[A-Za-z]:[\\/]+|\\\\+)(?:{_PARTS}[\\/]+)*(?:{_PART})?")),
    ("path", re.compile(rf"{_APART}(?:~\w*|\.\.?)?/+(?:{_PARTS}/+)*{_PART}/*")),
    ("path", re.compile(rf"(?<![\w])[\w.@~+-]+(?:[/\\]+[\w.@~+-]+)*\.{_ENDING}\b(?:\(\d+\))?")),
    ("host", re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")),
    ("host", re.compile(r"\b(?:[0-9A-Fa-f]{1,4}:){5,7}[0-9A-Fa-f]{1,4}\b")),
    (
        "host",
        re.compile(
            r"\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|edu|gov|io|ai|dev|local|internal|lan|corp|cloud)\b"
        ),
    ),
)
"""In this order: what an address or a path holds is gone with it."""

_HOMES = re.compile(r"(?:/home|/Users|/users|\\Users|\\users|/scratch|/u)[/\\]+([^/\\\s\"']+)")
_TENSORBOARD = re.compile(r"([^/\\]+?)_\d+\.\d+\.pt\.trace\.json")
"""What `tensorboard_trace_handler` calls a file: the host first."""

SHORTEST = {"host": 2, "user": 3}
"""Letters of a name: a user called `mm` would take its name from every matrix product."""

_HOSTS = ("host", "hostname", "host_name", "node", "nodename")
_USERS = ("user", "username", "user_name", "login", "owner")
"""Members that name somebody."""

_MARKS = (
    *(mark.encode() for mark in ("home", "users", "scratch", "/u/", "\\/u", "\\u00")),
    *(f'"{word}"'.encode() for word in (*_HOSTS, *_USERS)),
)

NOBODY = frozenset({
    "root", "user", "users", "admin", "ubuntu", "runner", "home", "shared", "public", "data", "default",
    "python", "main", "localhost", "localdomain", "docker", "vscode", "jovyan", "gpu", "cpu", "cuda",
    "device", "node", "host", "worker", "torch", "triton", "aten", "model", "models", "train", "test", "work",
    "app", "workspace", "code", "project", "projects", "build", "opt", "ray", "slurm", "conda",
})  # fmt: skip
"""Names that tell nothing of anybody, or are words of every trace."""


Word = tuple[str, str]
"""What kind of name, and the name."""


@dataclass(frozen=True)
class Sensitive:
    """Cleans texts of a trace; `words` are hosts, users, whatever else is to be hidden. `found` counts."""

    words: tuple[Word, ...]
    found: Counter[str] = field(default_factory=Counter)
    _known: dict[str, tuple[str, Counter[str]]] = field(default_factory=dict)

    def clean(self, text: str) -> str:
        """The text with `<path>`, `<host>`, `<user>` in the place of each."""
        if text not in self._known:
            self._known[text] = self.masked(text)
        cleaned, found = self._known[text]
        if found:
            self.found.update(found)
        return cleaned

    def file_name(self, name: str) -> str:
        """A file's name without the words: `tux_7.1.pt.trace.json` -> `host_7.1.pt.trace.json`."""
        for kind, word in self.words:
            name = _word(word).sub(kind, name)
        return name

    def masked(self, text: str) -> tuple[str, Counter[str]]:
        """The same, and what was in it; nothing is counted."""
        found: Counter[str] = Counter()
        for kind, pattern in (*PATTERNS, *((kind, _word(word)) for kind, word in self.words)):
            text, times = pattern.subn(f"<{kind}>", text)
            found[kind] += times
        return text, +found

    def cleaned(self, value: Any) -> Any:
        """A JSON value with each text in it clean, keys too."""
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, list):
            return [self.cleaned(one) for one in value]
        if isinstance(value, dict):
            return {self.clean(str(key)): self.cleaned(one) for key, one in value.items()}
        return value


def _word(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?:(?<![^\W_])|{_ESCAPED}){re.escape(word)}(?![^\W_])", re.IGNORECASE)


def sensitive(words: Iterable[Word], hide: Iterable[str] = ()) -> Sensitive:
    """Of names that were found; those that tell of nobody are left out. `hide` are more words."""
    kept = {
        (kind, word) for kind, word in words if len(word) >= SHORTEST[kind] and word.lower() not in NOBODY
    }
    kept |= {("hidden", word) for word in hide if word}
    return Sensitive(tuple(sorted(kept, key=lambda one: (-len(one[1]), one))))


def may_name(text: bytes) -> bool:
    """Whether `names_in` could find somebody in the JSON text: quicker to ask than to decode."""
    lowered = text.lower()
    return any(mark in lowered for mark in _MARKS)


def names_in(value: Any) -> Iterator[Word]:
    """Users whose home a path in a JSON value goes through, and what a member calls a host or a user."""
    if isinstance(value, str):
        yield from (("user", name) for name in _HOMES.findall(value))
    elif isinstance(value, list):
        for one in value:
            yield from names_in(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from names_in(key)
            if isinstance(one, str) and key.lower() in (*_HOSTS, *_USERS):
                yield "host" if key.lower() in _HOSTS else "user", one
            yield from names_in(one)


def names_of_file(name: str) -> Iterator[Word]:
    """The host in a name that `tensorboard_trace_handler` made."""
    if named := _TENSORBOARD.search(name):
        yield "host", named[1]
        yield "host", named[1].split(".")[0]


def names_here() -> set[Word]:
    """Who runs this, and where."""
    found = {("host", socket.gethostname()), ("host", socket.gethostname().split(".")[0])}
    with suppress(Exception):  # a user without a name
        found.add(("user", getpass.getuser()))
    return found
