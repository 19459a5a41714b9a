"""What `rung record TARGET` names: a factory in a module or a file, or a script."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any
from zipfile import is_zipfile

from rung.errors import RungError, UsageError

PACKAGE = Path(__file__).parents[1]

FORMS = "give pkg.module:factory, file.py:factory, or a script.py"

TRACES = (".json", ".json.gz")
"""A trace without true, false and null in it would run as Python, and record nothing."""


def names_a_script(target: str) -> bool:
    """Whether TARGET is a script, rather than `module:factory` or `file.py:factory`."""
    return ":" not in target


def check_python(script: Path) -> None:
    """Raises UsageError for a trace, and for any other file that is none of Python's.

    What Python calls its own by name is left to it: its complaint says the line.
    """
    if script.name.endswith(TRACES):
        raise UsageError(f"{script} is no Python file but looks like a trace: give it to `rung read`")
    if script.suffix.startswith(".py") or is_zipfile(script):
        return
    try:
        compile(script.read_bytes(), script, "exec")
    except (SyntaxError, ValueError):
        raise UsageError(f"{script} is no Python file: {FORMS}") from None


def load_factory(target: str) -> Callable[[], Any]:
    """The factory that `target` names. Raises UsageError without one, RungError where its file fails."""
    place, _, attribute = target.rpartition(":")
    if not place or not attribute.isidentifier():
        raise UsageError(f"target {target!r} is not understood: {FORMS}")
    module = _load_file(Path(place)) if place.endswith(".py") else _load_module(place)
    factory = getattr(module, attribute, None)
    if factory is None:
        raise UsageError(f"{place} has no {attribute!r}: name a function that it defines")
    if not callable(factory):
        raise UsageError(f"{attribute!r} in {place} is no function but of type {type(factory).__name__}")
    return factory  # type: ignore[no-any-return]


def call_factory(target: str, factory: Callable[[], Any]) -> tuple[Any, tuple[Any, ...], Mapping[str, Any]]:
    """What the factory made, as (fn, inputs, kwargs).

    A factory returns fn, (fn, inputs) or (fn, inputs, kwargs); a single input needs no tuple around it.
    """
    with user_code(f"factory {target}"):
        made = factory()
    parts: tuple[Any, ...] = made if isinstance(made, tuple) else (made,)
    if not 1 <= len(parts) <= 3 or not callable(parts[0]):
        raise UsageError(
            f"factory {target} returned {_kind(made)}: return fn, (fn, inputs) or (fn, inputs, kwargs)"
        )
    fn, inputs, kwargs = parts + ((), {})[len(parts) - 1 :]
    if not isinstance(kwargs, Mapping):
        raise UsageError(f"factory {target} returned kwargs that are {_kind(kwargs)}: they must be a dict")
    return fn, tuple(inputs) if isinstance(inputs, list | tuple) else (inputs,), kwargs


@contextmanager
def user_code(what: str) -> Iterator[None]:
    """Turns what the user's code raises into one line: what ran, the error, and where in the user's files."""
    try:
        yield
    except RungError:
        raise
    except SystemExit as error:
        raise RungError(f"{what} ended with exit code {error.code or 0}{_where(error)}") from error
    except Exception as error:
        text = str(error).strip().splitlines()
        message = f": {text[0]}" if text else ""
        raise RungError(f"{what} raised {type(error).__name__}{message}{_where(error)}") from error


def _where(error: BaseException) -> str:
    """` (file.py line 12)`: the innermost frame outside of Rung, of Python and of installed packages."""
    if isinstance(error, SyntaxError) and error.filename:
        return ""  # its message already says so
    others = ("<", str(PACKAGE), sys.base_prefix)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if "site-packages" not in frame.filename and not frame.filename.startswith(others):
            return f" ({Path(frame.filename).name} line {frame.lineno})"
    return ""


def _load_module(name: str) -> ModuleType:
    # `rung` is a console script: unlike `python -m`, it does not have the current folder on the path.
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()
    try:
        found = importlib.util.find_spec(name)
    except (ModuleNotFoundError, ValueError):
        found = None
    if found is None:
        raise UsageError(f"there is no module {name!r} here or installed: {FORMS}")
    with user_code(f"module {name}"):
        return importlib.import_module(name)


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    sys.path.insert(0, str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pickling look their module up by its name.
    sys.modules.setdefault(path.stem, module)
    with user_code(str(path)):
        spec.loader.exec_module(module)
    return module


def _kind(value: Any) -> str:
    return (
        f"a tuple of {len(value)}"
        if isinstance(value, tuple)
        else f"something of type {type(value).__name__}"
    )
