"""What is run elsewhere, and what has to travel for it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from rung.errors import UsageError

TRACES, RESULT = "traces", "result.json"
"""What an errand leaves in its folder: recordings, and what the command said with --json."""

EXTRAS = "rung[torch,liger,models]"


@dataclass(frozen=True, slots=True)
class Errand:
    """`rung ARGUMENTS`, which writes below `traces` and prints JSON, run in a folder that has the `files`.

    `package` is the wheel that is run, which travels too; or what pip calls a requirement; or None for the
    `rung` that is there.
    """

    arguments: tuple[str, ...]
    package: Path | str | None
    files: tuple[Path, ...] = ()

    @property
    def luggage(self) -> tuple[Path, ...]:
        """All that travels. In the folder each has its own name, so no two may have the same."""
        return (*self.files, self.package) if isinstance(self.package, Path) else self.files


def package_of(text: str) -> Path | str:
    """`--from`: a wheel that lies here, else a requirement: a version (`rung==0.1.0`) or the URL of one.

    Raises:
        UsageError: it is no wheel, or a URL with a password, which whoever sees the job could read.
    """
    path = Path(text)
    if path.suffix == ".whl" and "://" not in text:
        if not path.is_file():
            raise UsageError(f"--from: there is no wheel {text}.")
        return path
    if path.exists():
        raise UsageError(f"--from takes a wheel, not {text}; build one: pip wheel --no-deps {text}")
    if re.search(r"https?://[^/@]+@", text):
        raise UsageError("--from: a URL with a token or password in it would be readable where it is used.")
    return text


def requirement(package: Path | str, folder: str | None = None) -> str:
    """The package as pip and uv take it, with what recording needs; a wheel lies in `folder` there."""
    if isinstance(package, Path):
        return f"{EXTRAS} @ file://{folder}/{package.name}"
    return f"{EXTRAS} @ {package}" if "://" in package else package
