"""The families, tried in order until one knows the name."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache
from importlib.metadata import entry_points
from typing import get_args

from rung.names.decoded import Decoded, Kind
from rung.names.families import FAMILIES, memory

Family = Callable[[str], Decoded | None]
"""Takes a device event's name; None when the name is not of this family."""

ENTRY_POINT_GROUP = "rung.names"
_KINDS = frozenset(get_args(Kind))


@lru_cache(maxsize=65536)
def decode(name: str, category: str | None = None) -> Decoded:
    """Take a device event's name apart. Every text decodes; one that no family knows is `family="unknown"`.

    `category` is the event's own trace category. Only a memcpy or memset category gives kind `copy` or
    `memset`; without a category a name as Kineto writes it (`Memcpy DtoD (...)`, `Memset (...)`) does too.
    Families that others registered under the entry point group `rung.names` are tried first.
    """
    category = category.lower() if category is not None else None
    moved = memory.decode(name, category)
    if moved is not None:
        return moved
    for family in registered_families():
        found = _ask(family, name)
        if found is not None:
            return found
    for family in FAMILIES:
        found = family(name)
        if found is not None:
            return found
    return Decoded(name, "unknown", "other", {}, (name,) if name else ())


@cache
def registered_families() -> tuple[Family, ...]:
    """The families of other packages, in the order of their entry points' names.

    One that cannot be loaded is left out with a `RuntimeWarning`: a broken plugin must not stop decoding.
    """
    families: list[Family] = []
    for entry in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda entry: entry.name):
        try:
            families.append(entry.load())
        except Exception as error:  # a plugin may fail in any way
            warnings.warn(
                f"kernel name family {entry.name!r} ({entry.value}) is left out: {_said(error)}",
                RuntimeWarning,
                stacklevel=2,
            )
    return tuple(families)


def _ask(family: Family, name: str) -> Decoded | None:
    """A registered family's answer with Rung's promises kept, or None where it fails."""
    try:
        found = family(name)
        if found is None:
            return None
        kind: Kind = "other" if found.kind in ("copy", "memset") else found.kind
        if kind not in _KINDS:
            raise ValueError(f"{kind!r} is not one of the kinds {', '.join(get_args(Kind))}")
        return replace(found, name=name, kind=kind)
    except Exception as error:  # a plugin may fail in any way
        _complain(family, _said(error))
        return None


_complained: set[str] = set()


def _complain(family: Family, reason: str) -> None:
    """Warn once a family, not once a kernel: a trace asks it thousands of times."""
    where = f"{getattr(family, '__module__', '?')}.{getattr(family, '__qualname__', type(family).__name__)}"
    if where in _complained:
        return
    _complained.add(where)
    warnings.warn(
        f"kernel name family {where} failed and is passed over: {reason}", RuntimeWarning, stacklevel=4
    )


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def forget() -> None:
    """Look the registered families up again and drop every cached answer."""
    decode.cache_clear()
    registered_families.cache_clear()
    _complained.clear()
