"""Decoded kernel names in a terminal and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rung.names import Decoded, explain
from rung.show.plain import printable

SCHEMA_VERSION = 1


def page(decoded: Sequence[Decoded], *, alone: bool) -> str:
    """The words for each name; several names stand above their own words, with a blank line between."""
    if alone:
        return "\n".join(_indented(explain(decoded[0]), ""))
    blocks = ("\n".join([_printable(one.name), *_indented(explain(one), "  ")]) for one in decoded)
    return "\n\n".join(blocks)


def _indented(lines: Sequence[str], margin: str) -> list[str]:
    """What it is at the margin, its details two columns in."""
    first, *rest = map(_printable, lines)
    return [f"{margin}{first}", *(f"{margin}  {line}" for line in rest)]


def as_json(decoded: Sequence[Decoded], *, alone: bool) -> str:
    """`{"schema_version", "name", "family", "kind", "decoded", "unknown"}`; of several: `"names": [...]`.

    A name that is alone is the object itself; several are a list, in the order they were given.
    """
    if alone:
        return _encoded(_fields(decoded[0]))
    return _encoded({"names": [_fields(one) for one in decoded]})


def _fields(decoded: Decoded) -> dict[str, Any]:
    return {
        "name": decoded.name,
        "family": decoded.family,
        "kind": decoded.kind,
        "decoded": decoded.fields,
        "unknown": list(decoded.unknown),
    }


def _encoded(value: dict[str, Any]) -> str:
    return json.dumps({"schema_version": SCHEMA_VERSION, **value}, indent=2)


def _printable(text: str) -> str:
    """On one line, without the lone surrogates that stand for bytes of an argument that are no UTF-8."""
    return printable(text.encode("utf-8", "replace").decode())
