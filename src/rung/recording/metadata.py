"""What a trace says about its own making: the object under the trace's top-level key "rung"."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rung import __version__
from rung.errors import UsageError
from rung.recording.machine import describe
from rung.recording.values import Settings

if TYPE_CHECKING:
    import torch

SCHEMA_VERSION = 1

_SCHEDULE = ("warmup", "wait", "profiler_warmup", "active", "repeat", "cold")


def run_metadata(
    *,
    name: str,
    variant: str,
    region: str | None,
    device: torch.device,
    settings: Settings,
    work: Mapping[str, Any],
) -> dict[str, Any]:
    """Everything that a number in the trace depends on. `work` adds shapes, dtypes, parameters, notes.

    Raises UsageError where the user's own metadata would hide one of these keys.
    """
    made = {
        "schema_version": SCHEMA_VERSION,
        "rung": __version__,
        "name": name,
        "variant": variant,
        "region": region,
        **describe(device),
        "seed": settings.seed,
        "train": settings.train,
        "schedule": {key: value for key, value in asdict(settings).items() if key in _SCHEDULE},
        "command": command(sys.argv),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        **work,
    }
    taken = sorted(made.keys() & settings.metadata.keys())
    if taken:
        raise UsageError(f"metadata key {taken[0]!r} is Rung's own: choose another name for it")
    return {**made, **settings.metadata}


def command(argv: list[str]) -> str:
    """The command line without anybody's folders: the program's name, other paths from ~ or from here."""
    program, *rest = argv or [""]
    path = Path(program)
    name = f"python -m {path.parent.name}" if path.name == "__main__.py" else path.name
    return " ".join([name, *map(_shorten, rest)])


def _shorten(argument: str) -> str:
    for folder, short in ((str(Path.cwd()), "."), (str(Path.home()), "~")):
        if folder != "/":
            argument = argument.replace(f"{folder}/", "" if short == "." else f"{short}/").replace(
                folder, short
            )
    return argument
