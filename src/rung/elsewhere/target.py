"""Where else: `hf-jobs`, `hf-jobs:FLAVOR` or `ssh:HOST`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rung.errors import UsageError

HF_JOBS, SSH = "hf-jobs", "ssh"
FLAVOR = "a10g-small"
"""One GPU that runs all of Rung's kernels; a T4 has no bfloat16."""


@dataclass(frozen=True, slots=True)
class Target:
    """`kind` is hf-jobs or ssh; `name` the flavor of its hardware, or the host."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


def parse(text: str) -> Target:
    """`hf-jobs:a10g-small`, `ssh:me@host` -> where that is.

    Raises:
        UsageError: it is neither.
    """
    kind, colon, name = text.partition(":")
    if kind == HF_JOBS and not (colon and not name):
        return Target(kind, _plain(text, name or FLAVOR))
    if kind == SSH and name:
        return Target(kind, _plain(text, name))
    raise UsageError(f"--on {text!r} is not known: give hf-jobs, hf-jobs:FLAVOR or ssh:HOST.")


def _plain(text: str, name: str) -> str:
    """The name, which a program may take for no option of its own, nor for a path."""
    if not re.fullmatch(r"\w[\w.@-]*", name):
        raise UsageError(
            f"--on {text!r} names nothing that can be asked for: "
            "a flavor or a host has letters, digits and . - _ @ (a port goes into ~/.ssh/config)."
        )
    return name
