"""A trace as named arrays and back, for the cache. Lists become codes into their distinct values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from itertools import count
from typing import Any, get_type_hints

import msgspec
import numpy as np
from msgspec import Raw
from numpy.typing import NDArray

from rung.trace.model import Header, Tables, Trace
from rung.trace.packed import PackedArgs
from rung.trace.tables import Members
from rung.trace.warnings import Warning

Arrays = dict[str, NDArray[Any]]

SCALARS = ("events", "skipped_events", "repaired_events", "origin_ns", "span_ns", "stand_in", "incomplete")


class Meta(msgspec.Struct):
    """What is not a column. `values` are the distinct values behind each column of codes."""

    header: dict[str, Raw]
    warnings: list[Warning]
    scalars: dict[str, Any]
    values: dict[str, list[Any]]


def to_arrays(trace: Trace) -> Arrays:
    """All that a trace is made of, but its path."""
    arrays: Arrays = {}
    values: dict[str, list[Any]] = {}
    for table in fields(Tables):
        for field in fields(table_of := getattr(trace.tables, table.name)):
            key, column = f"{table.name}.{field.name}", getattr(table_of, field.name)
            if isinstance(column, Members):
                arrays |= {f"{key}.items": column.items, f"{key}.offsets": column.offsets}
            elif isinstance(column, list):
                arrays[key], values[key] = _coded(column)
            else:
                arrays[key] = column
    scalars = {name: getattr(trace, name) for name in SCALARS}
    meta = Meta(trace.header.members, trace.warnings, scalars, values)
    arrays["meta"] = np.frombuffer(msgspec.json.encode(meta, enc_hook=asdict), dtype=np.uint8)
    return arrays | _args_to_arrays(trace.span_args())


def from_arrays(path: str, arrays: Mapping[str, NDArray[Any]], args: Callable[[], PackedArgs]) -> Trace:
    """The trace again; its `args` are fetched when they are first asked for.

    Raises:
        Exception: of any kind, where the arrays are not what `to_arrays` made.
    """
    meta = msgspec.json.decode(arrays["meta"].tobytes(), type=Meta)
    tables = {}
    for name, kind in get_type_hints(Tables).items():
        columns = {field.name: _column(f"{name}.{field.name}", arrays, meta.values) for field in fields(kind)}
        tables[name] = kind(**columns)
    return Trace(path, Header(meta.header), Tables(**tables), args, meta.warnings, **meta.scalars)


def _column(key: str, arrays: Mapping[str, NDArray[Any]], values: dict[str, list[Any]]) -> Any:
    if key in values:
        return _decoded(arrays[key], values[key])
    return arrays[key] if key in arrays else Members(arrays[f"{key}.items"], arrays[f"{key}.offsets"])


def _coded(column: list[Any]) -> tuple[NDArray[np.int32], list[Any]]:
    known: defaultdict[Any, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(known.__getitem__, column), np.int32, len(column))
    return codes, list(known)


def _decoded(codes: NDArray[np.int32], values: list[Any]) -> list[Any]:
    distinct = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        distinct[i] = tuple(value) if isinstance(value, list) else value
    decoded: list[Any] = distinct[codes].tolist()
    return decoded


def _args_to_arrays(args: PackedArgs) -> Arrays:
    texts = {
        f"args.text.{i}": np.frombuffer(text, dtype=np.uint8) for i, text in enumerate(args.joined(1 << 26))
    }
    return {"args.offset": args.offset, "args.length": args.length, **texts}


def args_from_arrays(arrays: Mapping[str, NDArray[Any]]) -> PackedArgs:
    texts: list[bytes] = []
    while (key := f"args.text.{len(texts)}") in arrays:
        texts.append(arrays[key].tobytes())
    return PackedArgs(texts, PackedArgs.bases_of(texts), arrays["args.offset"], arrays["args.length"])
