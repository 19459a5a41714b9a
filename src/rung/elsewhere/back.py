"""What came back: `result.json` and `traces/` in a folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path, PurePosixPath
from typing import Any

from rung.elsewhere.errand import RESULT, TRACES
from rung.errors import MachineError
from rung.recording.artifacts import staged


def take(folder: Path, out: Path) -> dict[str, Any]:
    """Puts all traces and tables below `out`; what the command said, the paths in it being those here.

    Raises:
        MachineError: something is missing; nothing was put anywhere then.
    """
    said = _said(folder)
    if lacking := [path for path in _paths(said) if not (folder / path).is_file()]:
        raise MachineError(f"it ran, but {', '.join(lacking)} did not come back")
    home = folder / TRACES
    for path in sorted(home.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with staged(out / path.relative_to(home)) as (part,):
                shutil.copyfile(path, part)
    return _here(said, out)  # type: ignore[no-any-return]


def written(folder: Path) -> list[str]:
    """The files, below the folder, that the command says it wrote."""
    return _paths(_said(folder))


def _said(folder: Path) -> dict[str, Any]:
    try:
        said: dict[str, Any] = json.loads((folder / RESULT).read_bytes())
        _paths(said)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise MachineError(
            f"it ran, but what came back as {RESULT} is no answer of Rung's: {error}"
        ) from error
    return said


def _paths(said: dict[str, Any]) -> list[str]:
    """Of the traces of `climb`, the traces and tables of `record`. Raises ValueError for one elsewhere."""
    found = [one["path"] for one in said.get("artifacts", ())]
    found += [one["trace"] for one in said.get("variants", ()) if one["trace"] is not None]
    for path in map(PurePosixPath, found):
        if path.parts[0] != TRACES or ".." in path.parts:
            raise ValueError(f"{path} lies outside of {TRACES}")
    return found


def _here(value: Any, out: Path) -> Any:
    if isinstance(value, dict):
        return {key: _here(inner, out) for key, inner in value.items()}
    if isinstance(value, list):
        return [_here(inner, out) for inner in value]
    if isinstance(value, str) and value.startswith(f"{TRACES}/"):
        return str(out / value.removeprefix(f"{TRACES}/"))
    return value
