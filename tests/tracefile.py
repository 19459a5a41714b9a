"""Reads recorded traces with nothing but json: these tests judge the recorder, not the reader."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any


def load(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


def spans(trace: dict[str, Any], name: str | None = None) -> list[dict[str, Any]]:
    found = [e for e in trace["traceEvents"] if e.get("ph") == "X" and name in (None, e["name"])]
    return sorted(found, key=lambda e: e["ts"])


def within(trace: dict[str, Any], region: dict[str, Any]) -> list[str]:
    start, end = region["ts"], region["ts"] + region["dur"]
    return [e["name"] for e in spans(trace) if start <= e["ts"] < end and e is not region]


def steps(trace: dict[str, Any]) -> list[str]:
    return [e["name"] for e in spans(trace) if e["name"].startswith("ProfilerStep#")]


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
