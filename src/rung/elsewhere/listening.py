"""The log of a command that runs elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rung.visible import printable


@dataclass(slots=True)
class Listening:
    """Hands on each line, harmless; keeps why the command failed: what Rung said last, else the last line."""

    say: Callable[[str], None]
    error: str = ""
    last: str = ""

    def hear(self, line: str) -> None:
        line = printable(line.rstrip("\r\n"))
        if line.startswith("rung: "):
            self.error = line.removeprefix("rung: ")
        self.last = line or self.last
        self.say(line)

    @property
    def reason(self) -> str:
        return self.error or self.last or "it said nothing"
