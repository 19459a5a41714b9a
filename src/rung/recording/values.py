"""What goes into a recording and what comes out of it: small frozen values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rung.errors import UsageError

if TYPE_CHECKING:
    from rung.trace import Trace


@dataclass(frozen=True)
class Work:
    """What is recorded: a callable with its inputs, already on their device.

    `name` is the folder of the artifacts; `region` the record_function annotation around each call. With
    `turns` the calls take `args` and each of the turns in rotation.
    """

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    name: str
    region: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    turns: tuple[tuple[Any, ...], ...] = ()

    def __post_init__(self) -> None:
        # The name becomes a folder, so it must not lead out of the output folder.
        if not re.fullmatch(r"[\w][\w.+-]*", self.name):
            raise UsageError(f"name {self.name!r} cannot be a folder: use letters, digits, '-', '_' and '.'")
        if not self.region.strip():
            raise UsageError("region must not be empty: it is what the kernels of a step are counted under")


@dataclass(frozen=True)
class Settings:
    """How work is recorded.

    `warmup` calls run before the profiler exists; then its own schedule: `wait` idle steps, `profiler_warmup`
    traced and thrown away, `active` kept, all of it `repeat` times, of which the last window is kept.
    `cold` is no schedule at all: the profiler starts before the very first call, and `active` calls follow.
    """

    warmup: int = 3
    wait: int = 1
    profiler_warmup: int = 1
    active: int = 3
    repeat: int = 1
    cold: bool = False
    shapes: bool = True
    stacks: bool = False
    memory: bool = False
    flops: bool = False
    train: bool = False
    seed: int | None = 0
    compile_mode: str | None = None
    out: Path = Path("traces")
    compress: bool = True
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, least in (("warmup", 0), ("wait", 0), ("profiler_warmup", 0), ("active", 1), ("repeat", 1)):
            if getattr(self, name) < least:
                raise UsageError(f"{name} is {getattr(self, name)}: it must be at least {least}")
        if self.cold:
            for name in ("warmup", "wait", "profiler_warmup"):
                object.__setattr__(self, name, 0)
            object.__setattr__(self, "repeat", 1)

    @property
    def steps(self) -> int:
        """Calls made while the profiler exists."""
        return (self.wait + self.profiler_warmup + self.active) * self.repeat


@dataclass(frozen=True)
class Recording:
    """One variant's trace on disk: `path` (Chrome trace), `table_path` (the profiler's own table)."""

    name: str
    variant: str
    path: Path
    table_path: Path
    metadata: Mapping[str, Any] = field(repr=False)

    @property
    def trace(self) -> Trace:
        """The trace, read anew at each access."""
        from rung.trace import read

        return read(self.path)

    def __str__(self) -> str:
        return f"{self.name}, {self.variant}: {self.path}"

    def _repr_html_(self) -> str:
        """A line; in a notebook `rung.show.notebook` puts the page in its place."""
        return f"<pre>{escape(str(self))}</pre>"


@dataclass(frozen=True)
class Skipped:
    """A variant that was not recorded, and why."""

    variant: str
    reason: str
    name: str = ""
