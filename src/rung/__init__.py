"""Rung: from `nn.Linear` to a fused MLP, one rung at a time. Guess first, then look.

The names below are imported when they are first used: reading, explaining and comparing traces needs no
torch, and `import rung` takes no time.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rung.errors import RungError as RungError
    from rung.insight.diff import diff as diff
    from rung.insight.guess import guess as guess
    from rung.insight.why import why as why
    from rung.recording import record as record
    from rung.trace import Trace as Trace
    from rung.trace import read as read

__version__ = "0.1.0"

__all__ = ["RungError", "Trace", "diff", "guess", "read", "record", "why"]

_HOME = {
    "RungError": "rung.errors",
    "Trace": "rung.trace",
    "diff": "rung.insight.diff",
    "guess": "rung.insight.guess",
    "read": "rung.trace",
    "record": "rung.recording",
    "why": "rung.insight.why",
}


_ROOMS = ("glu",)
"""Rooms with a face of their own, so that `rung.glu.GLUMLP` needs no import of `rung.glu`."""


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"rung.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'rung' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value  # the next access finds it without coming here
    return value


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__, *_ROOMS})


if "IPython" in sys.modules and (_shell := sys.modules["IPython"].get_ipython()) is not None:
    import_module("rung.show.notebook").register(_shell)  # 0.3 ms: it imports nothing else
