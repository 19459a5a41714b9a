"""What compiled kernels are called on disk: the same in every process, and found fast."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dis import get_instructions
from functools import cache, wraps
from pathlib import Path
from threading import Lock, local
from typing import Any

import triton
from triton.runtime import JITFunction
from triton.runtime import cache as kept

_HERE = local()
_ONE_BY_ONE = Lock()


@contextmanager
def by_dates() -> Iterator[None]:
    """Names binaries by the sizes and dates of Triton's own files, as Python names its byte code: in this
    thread, for other threads' kernels are not ours.

    Triton hashes what is in them: 416 MB, 0.37 s in each process.
    """
    _HERE.ours = True
    try:
        yield
    finally:
        _HERE.ours = False


def settle(function: Any) -> None:
    """Gives a jitted function its key, those that it calls before it.

    To a key belong the constants that callees use, but Triton 3.6 sees them only if the callee has its key
    already. Left alone, a key depends on which kernels were compiled before this one, or beside it.
    """
    with _ONE_BY_ONE:
        _settle(function)


def _settle(function: Any) -> None:
    if function.hash is None:
        for callee in _callees(function.fn):
            _settle(callee)
        _ = function.cache_key  # which keeps what it finds


def _callees(source: Callable[..., Any]) -> list[Any]:
    names = {step.argval for step in get_instructions(source) if step.opname == "LOAD_GLOBAL"}
    found = [source.__globals__.get(name) for name in sorted(names)]
    return [one for one in found if isinstance(one, JITFunction)]


def _ours_by_dates(own: Callable[[], str]) -> Callable[[], str]:
    return wraps(own)(lambda: _key() if getattr(_HERE, "ours", False) else own())


@cache
def _key() -> str:
    root = Path(triton.__file__).parent
    seen = hashlib.sha256()
    for folder in ("_C", "backends", "compiler", "experimental", "language", "runtime"):
        for path, _, files in sorted(os.walk(root / folder)):
            for name in sorted(files):
                if name.endswith((".py", ".so")):
                    about = os.stat(os.path.join(path, name))
                    seen.update(f"{path}/{name} {about.st_size} {about.st_mtime_ns}\n".encode())
    return f"{triton.__version__}-{seen.hexdigest()}"


if hasattr(kept, "triton_key"):
    kept.triton_key = _ours_by_dates(kept.triton_key)
