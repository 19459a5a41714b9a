"""Standard output and standard error that outlive whoever reads them."""

from __future__ import annotations

import errno
import os
import sys
from io import TextIOWrapper
from typing import BinaryIO, TextIO, cast

from rung.errors import UsageError

STDIN, STDOUT, STDERR = range(3)


class Output(TextIOWrapper):
    """Standard output: what was found.

    A reader that went away has had enough: the rest goes nowhere, and the exit code is the verb's own.
    Anything else that keeps text from being written is a UsageError, once.
    """

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError as error:
            self.give_up(error)
        return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self.give_up(error)

    def give_up(self, error: OSError) -> None:
        """Let what is still in the buffer, and all that follows, go nowhere."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)
        self.failed(error)

    def failed(self, error: OSError) -> None:
        if not isinstance(error, BrokenPipeError):
            why = "it is closed" if error.errno == errno.EBADF else error.strerror
            raise UsageError(f"standard output cannot be written: {why}") from None


class Commentary(Output):
    """Standard error. Where it cannot be written there is nobody to tell."""

    def failed(self, error: OSError) -> None:
        pass


def steady() -> None:
    """Puts such streams in the place of sys.stdout and sys.stderr, closed ones among them.

    What a stream's encoding lacks is escaped: a terminal without µ gets \\xb5.
    """
    _hold_closed()
    sys.stdout = Output(*_of(sys.stdout, STDOUT))
    sys.stderr = Commentary(*_of(sys.stderr, STDERR))


def is_asked() -> bool:
    """Whether somebody sits at the terminal to answer a question on stderr."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def agreed(question: str, yes: bool) -> None:
    """Asks at a terminal; without one `--yes` has to say so beforehand.

    Raises:
        UsageError: nobody can be asked.
        typer.Abort: the answer is no.
    """
    import typer

    from rung.show.plain import printable

    if yes:
        return
    if not is_asked():
        raise UsageError(f"{printable(question)}: nobody is here to ask; --yes says so beforehand.")
    typer.confirm(printable(question), abort=True, err=True)


def _hold_closed() -> None:
    """Occupy closed descriptors, unwritable: else the first file that is opened becomes standard output."""
    while (held := os.open(os.devnull, os.O_RDONLY)) <= STDERR:
        pass
    os.close(held)


def _of(stream: TextIO | None, descriptor: int) -> tuple[BinaryIO, str, str, None, bool]:
    """What a TextIOWrapper is made of."""
    if stream is None:
        return cast(BinaryIO, open(descriptor, "wb", closefd=False)), "utf-8", "backslashreplace", None, False
    return stream.buffer, stream.encoding, "backslashreplace", None, bool(stream.line_buffering)
